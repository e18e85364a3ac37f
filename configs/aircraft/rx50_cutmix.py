# Table 5, FGVC-Aircraft, ResNeXt-50, 200 epochs, CutMix with MCE: 84.55 (alpha 1, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='CutMix', alpha=1.0))
