# Table 4, ImageNet-1k, DeiT-S, DeiT recipe, 300 epochs, Mixup with DM(CE): 80.04 (eta 0.1, alpha 0.2).
_base_ = 'deit-s_mixup.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
