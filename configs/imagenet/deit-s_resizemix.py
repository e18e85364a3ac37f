# Table 4, ImageNet-1k, DeiT-S, DeiT recipe, 300 epochs, ResizeMix with MCE: 79.93 (alpha 1, as released).
_base_ = 'deit-s.py'

model = dict(mixer=dict(type='ResizeMix', alpha=1.0))
