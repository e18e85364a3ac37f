# Table A2, CIFAR-100, ResNeXt-50, 800 epochs, PuzzleMix with MCE: 82.85 (alpha 1, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='PuzzleMix', alpha=1.0, block_num=5, t_size=4))
