# Table 2, ImageNet-1k, ResNet-50, 100 epochs, FMix with MCE: 77.19 (alpha 1, as released).
_base_ = 'r50.py'

model = dict(mixer=dict(type='FMix', alpha=1.0))
