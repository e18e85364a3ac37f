# Table A6, CUB-200-2011, ResNeXt-50, 200 epochs, PuzzleMix with MCE: 84.51 (alpha 1, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='PuzzleMix', alpha=1.0))
