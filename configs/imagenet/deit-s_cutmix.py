# Table 4, ImageNet-1k, DeiT-S, DeiT recipe, 300 epochs, CutMix with MCE: 79.78 (alpha 0.2, as released).
_base_ = 'deit-s.py'

model = dict(mixer=dict(type='CutMix', alpha=0.2))
