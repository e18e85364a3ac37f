# Table 4, ImageNet-1k, Swin-T, DeiT recipe, 300 epochs, CutMix with DM(CE): 81.05 (eta 0.1, alpha 0.2).
_base_ = 'swin-t_cutmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
