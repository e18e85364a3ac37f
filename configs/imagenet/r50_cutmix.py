# Table 2, ImageNet-1k, ResNet-50, 100 epochs, CutMix with MCE: 77.07 (alpha 1, as released).
_base_ = 'r50.py'

model = dict(mixer=dict(type='CutMix', alpha=1.0))
