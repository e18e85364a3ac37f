# Table A6, FGVC-Aircraft, ResNeXt-50, 200 epochs, SaliencyMix with MCE: 84.31 (alpha 0.2, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='SaliencyMix', alpha=0.2))
