# Table A6, CUB-200-2011, ResNet-18, 200 epochs, PuzzleMix with MCE: 78.63 (alpha 1, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='PuzzleMix', alpha=1.0))
