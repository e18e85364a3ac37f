# Table 1, CIFAR-100, ResNeXt-50, 800 epochs, ResizeMix with MCE: 81.82 (alpha 1, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='ResizeMix', alpha=1.0))
