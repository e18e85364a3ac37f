# Table A6, FGVC-Aircraft, ResNet-18, 200 epochs, AutoMix with MCE: 81.37 (alpha 2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='AutoMix', alpha=2.0, momentum_end=0.99999))
