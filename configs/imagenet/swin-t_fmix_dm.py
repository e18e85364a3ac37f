# Table 4, ImageNet-1k, Swin-T, DeiT recipe, 300 epochs, FMix with DM(CE): 80.54 (eta 0.1, alpha 0.2).
_base_ = 'swin-t_fmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
