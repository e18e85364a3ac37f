# Table A3, ImageNet-1k, ResNet-34, 100 epochs, PuzzleMix with MCE: 74.26 (alpha 1, as released).
_base_ = 'r34.py'

model = dict(mixer=dict(type='PuzzleMix', alpha=1.0))
