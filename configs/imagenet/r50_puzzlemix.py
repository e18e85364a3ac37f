# Table A3, ImageNet-1k, ResNet-50, 100 epochs, PuzzleMix with MCE: 77.54 (alpha 1, as released).
_base_ = 'r50.py'

model = dict(mixer=dict(type='PuzzleMix', alpha=1.0))
