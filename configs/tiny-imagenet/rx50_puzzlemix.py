# Tables 9 and A2, Tiny-ImageNet, ResNeXt-50, 400 epochs, PuzzleMix with MCE: 67.83 (alpha 1, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='PuzzleMix', alpha=1.0))
