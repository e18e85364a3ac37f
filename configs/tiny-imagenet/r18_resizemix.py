# Table 1, Tiny-ImageNet, ResNet-18, 400 epochs, ResizeMix with MCE: 63.74 (alpha 1, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='ResizeMix', alpha=1.0))
