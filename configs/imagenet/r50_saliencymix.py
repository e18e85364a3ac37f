# Table A3, ImageNet-1k, ResNet-50, 100 epochs, SaliencyMix with MCE: 77.14 (alpha 1, as released).
_base_ = 'r50.py'

model = dict(mixer=dict(type='SaliencyMix', alpha=1.0))
