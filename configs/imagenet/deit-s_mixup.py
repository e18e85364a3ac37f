# Table 4, ImageNet-1k, DeiT-S, DeiT recipe, 300 epochs, Mixup with MCE: 79.65 (alpha 0.2, as released).
_base_ = 'deit-s.py'

model = dict(mixer=dict(type='Mixup', alpha=0.2))
