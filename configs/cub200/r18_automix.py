# Table A6, CUB-200-2011, ResNet-18, 200 epochs, AutoMix with MCE: 79.87 (alpha 2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='AutoMix', alpha=2.0, momentum_end=0.99999))
