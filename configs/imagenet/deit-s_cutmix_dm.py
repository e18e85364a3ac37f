# Table 4, ImageNet-1k, DeiT-S, DeiT recipe, 300 epochs, CutMix with DM(CE): 80.20 (eta 0.1, alpha 0.2).
_base_ = 'deit-s_cutmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
