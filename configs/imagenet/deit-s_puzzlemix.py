# Table A5, ImageNet-1k, DeiT-S, DeiT recipe, 300 epochs, PuzzleMix with MCE: 79.84 (alpha 1, as released).
_base_ = 'deit-s.py'

model = dict(mixer=dict(type='PuzzleMix', alpha=1.0))
