# Table 4, ImageNet-1k, DeiT-S, DeiT recipe, 300 epochs, FMix with DM(CE): 79.89 (eta 0.1, alpha 0.2).
_base_ = 'deit-s_fmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
