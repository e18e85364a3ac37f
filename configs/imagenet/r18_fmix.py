# Table 2, ImageNet-1k, ResNet-18, 100 epochs, FMix with MCE: 69.96 (alpha 0.2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='FMix', alpha=0.2))
