# Table A3, ImageNet-1k, ResNet-34, 100 epochs, AutoMix with DM(CE): 74.77 (eta 1, alpha 2).
_base_ = 'r34_automix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
