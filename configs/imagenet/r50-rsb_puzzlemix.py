# Table A4, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, PuzzleMix with MCE: 77.27 (alpha 1, as released).
_base_ = 'r50-rsb.py'

model = dict(mixer=dict(type='PuzzleMix', alpha=1.0))
