# Table 5, FGVC-Aircraft, ResNeXt-50, 200 epochs, ManifoldMix with MCE: 86.60 (alpha 0.5, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='ManifoldMix', alpha=0.5))
