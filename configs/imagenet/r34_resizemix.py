# Table 2, ImageNet-1k, ResNet-34, 100 epochs, ResizeMix with MCE: 73.88 (alpha 1, as released).
_base_ = 'r34.py'

model = dict(mixer=dict(type='ResizeMix', alpha=1.0))
