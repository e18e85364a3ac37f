# Table A3, ImageNet-1k, ResNet-34, 100 epochs, SaliencyMix with MCE: 73.56 (alpha 1, as released).
_base_ = 'r34.py'

model = dict(mixer=dict(type='SaliencyMix', alpha=1.0))
