# Table A3, ImageNet-1k, ResNet-50, 100 epochs, AutoMix with MCE: 77.91 (alpha 2, as released).
_base_ = 'r50.py'

model = dict(mixer=dict(type='AutoMix', alpha=2.0, momentum_end=0.99999))
