# Tables 9 and A2, CIFAR-100, WRN-28-8, 800 epochs, PuzzleMix with MCE: 85.02 (alpha 1, as released).
_base_ = 'wrn28-8.py'

model = dict(mixer=dict(type='PuzzleMix', alpha=1.0, block_num=5, t_size=4))
