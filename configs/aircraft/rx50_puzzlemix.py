# Table A6, FGVC-Aircraft, ResNeXt-50, 200 epochs, PuzzleMix with MCE: 86.23 (alpha 1, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='PuzzleMix', alpha=1.0))
