# Table A4, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, AutoMix with MCE: 77.45 (alpha 2, as released).
_base_ = 'r50-rsb.py'

model = dict(mixer=dict(type='AutoMix', alpha=2.0, momentum_end=0.99999))
