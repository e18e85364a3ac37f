# Table A6, FGVC-Aircraft, ResNet-18, 200 epochs, PuzzleMix with MCE: 80.76 (alpha 1, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='PuzzleMix', alpha=1.0))
