# Table A5, ImageNet-1k, Swin-T, DeiT recipe, 300 epochs, SAMix with DM(CE): 81.97 (eta 1, alpha 2).
_base_ = 'swin-t_samix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
