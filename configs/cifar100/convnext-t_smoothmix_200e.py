# Table 10, CIFAR-100, ConvNeXt-T, 200 epochs, SmoothMix with MCE: 78.87 (alpha 0.2, as released).
_base_ = 'convnext-t.py'

model = dict(mixer=dict(type='SmoothMix', alpha=0.2))
