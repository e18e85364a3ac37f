# Table 4, ImageNet-1k, DeiT-S, DeiT recipe, 300 epochs, FMix with MCE: 79.41 (alpha 0.2, as released).
_base_ = 'deit-s.py'

model = dict(mixer=dict(type='FMix', alpha=0.2))
