# Table A3, ImageNet-1k, ResNet-18, 100 epochs, SaliencyMix with MCE: 69.16 (alpha 0.2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='SaliencyMix', alpha=0.2))
