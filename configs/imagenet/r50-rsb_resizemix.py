# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, ResizeMix with MCE: 76.90 (alpha 1, as released).
_base_ = 'r50-rsb.py'

model = dict(mixer=dict(type='ResizeMix', alpha=1.0))
