# Table A3, ImageNet-1k, ResNet-18, 100 epochs, AutoMix with MCE: 70.51 (alpha 2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='AutoMix', alpha=2.0, momentum_end=0.99999))
