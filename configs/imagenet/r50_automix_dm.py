# Table A3, ImageNet-1k, ResNet-50, 100 epochs, AutoMix with DM(CE): 78.15 (eta 1, alpha 2).
_base_ = 'r50_automix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
