# Table 10, CIFAR-100, ConvNeXt-T, 200 epochs, CutMix with MCE: 82.46 (alpha 2, as released).
_base_ = 'convnext-t.py'

model = dict(mixer=dict(type='CutMix', alpha=2.0))
