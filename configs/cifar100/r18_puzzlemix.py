# Table A2, CIFAR-100, ResNet-18, 800 epochs, PuzzleMix with MCE: 81.13 (alpha 1, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='PuzzleMix', alpha=1.0, block_num=5, t_size=4))
