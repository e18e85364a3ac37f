# Table A3, ImageNet-1k, ResNet-18, 100 epochs, AutoMix with DM(CE): 70.64 (eta 1, alpha 2).
_base_ = 'r18_automix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
