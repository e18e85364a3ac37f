# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, CutMix with MCE: 76.47 (alpha 0.2, as released).
_base_ = 'r50-rsb.py'

model = dict(mixer=dict(type='CutMix', alpha=0.2))
