# Table 2, ImageNet-1k, ResNet-18, 100 epochs, ResizeMix with MCE: 69.50 (alpha 0.2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='ResizeMix', alpha=0.2))
