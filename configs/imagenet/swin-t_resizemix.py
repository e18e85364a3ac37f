# Table 4, ImageNet-1k, Swin-T, DeiT recipe, 300 epochs, ResizeMix with MCE: 80.94 (alpha 1, as released).
_base_ = 'swin-t.py'

model = dict(mixer=dict(type='ResizeMix', alpha=1.0))
