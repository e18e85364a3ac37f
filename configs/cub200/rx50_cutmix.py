# Table 5, CUB-200-2011, ResNeXt-50, 200 epochs, CutMix with MCE: 85.68 (alpha 1, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='CutMix', alpha=1.0))
