# Table 10, CIFAR-100, ConvNeXt-T, 200 epochs, ResizeMix with MCE: 82.53 (alpha 1, as released).
_base_ = 'convnext-t.py'

model = dict(mixer=dict(type='ResizeMix', alpha=1.0, interpolation='bilinear'))
