# Table 2, ImageNet-1k, ResNet-34, 100 epochs, CutMix with MCE: 73.58 (alpha 1, as released).
_base_ = 'r34.py'

model = dict(mixer=dict(type='CutMix', alpha=1.0))
