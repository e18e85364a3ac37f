# Table 10, CIFAR-100, ConvNeXt-T, 200 epochs, PuzzleMix with MCE: 82.29 (alpha 2, as released).
_base_ = 'convnext-t.py'

model = dict(mixer=dict(type='PuzzleMix', alpha=2.0, block_num=5, t_size=4))
