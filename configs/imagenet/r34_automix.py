# Table A3, ImageNet-1k, ResNet-34, 100 epochs, AutoMix with MCE: 74.52 (alpha 2, as released).
_base_ = 'r34.py'

model = dict(mixer=dict(type='AutoMix', alpha=2.0, momentum_end=0.99999))
