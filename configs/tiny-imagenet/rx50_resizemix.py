# Table 1, Tiny-ImageNet, ResNeXt-50, 400 epochs, ResizeMix with MCE: 65.87 (alpha 1, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='ResizeMix', alpha=1.0))
