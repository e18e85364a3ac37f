# Table 2, ImageNet-1k, ResNet-34, 100 epochs, FMix with MCE: 74.08 (alpha 1, as released).
_base_ = 'r34.py'

model = dict(mixer=dict(type='FMix', alpha=1.0))
