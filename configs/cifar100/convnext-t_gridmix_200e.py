# Table 10, CIFAR-100, ConvNeXt-T, 200 epochs, GridMix with MCE: 79.53 (alpha 1, as released).
_base_ = 'convnext-t.py'

model = dict(mixer=dict(type='GridMix', alpha=1.0))
