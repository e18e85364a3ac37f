# Table A5, ImageNet-1k, DeiT-S, DeiT recipe, 300 epochs, SAMix with DM(CE): 81.12 (eta 1, alpha 2).
_base_ = 'deit-s_samix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
