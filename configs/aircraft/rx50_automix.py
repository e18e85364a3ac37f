# Table A6, FGVC-Aircraft, ResNeXt-50, 200 epochs, AutoMix with MCE: 86.69 (alpha 2, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='AutoMix', alpha=2.0, momentum_end=0.99999))
