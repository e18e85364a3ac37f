# Table A5, ImageNet-1k, Swin-T, DeiT recipe, 300 epochs, PuzzleMix with MCE: 81.03 (alpha 1, as released).
_base_ = 'swin-t.py'

model = dict(mixer=dict(type='PuzzleMix', alpha=1.0))
