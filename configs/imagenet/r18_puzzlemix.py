# Table A3, ImageNet-1k, ResNet-18, 100 epochs, PuzzleMix with MCE: 70.12 (alpha 1, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='PuzzleMix', alpha=1.0))
