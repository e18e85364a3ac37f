# Table 2, ImageNet-1k, ResNet-50, 100 epochs, ResizeMix with MCE: 77.42 (alpha 1, as released).
_base_ = 'r50.py'

model = dict(mixer=dict(type='ResizeMix', alpha=1.0))
