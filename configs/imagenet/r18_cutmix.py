# Table 2, ImageNet-1k, ResNet-18, 100 epochs, CutMix with MCE: 68.95 (alpha 0.2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='CutMix', alpha=0.2))
