# Table A5, ImageNet-1k, DeiT-S, DeiT recipe, 300 epochs, AutoMix with DM(CE): 80.91 (eta 1, alpha 2).
_base_ = 'deit-s_automix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
