# Table 10, CIFAR-100, ConvNeXt-T, 200 epochs, FMix with MCE: 81.79 (alpha 1, as released).
_base_ = 'convnext-t.py'

model = dict(mixer=dict(type='FMix', alpha=1.0))
