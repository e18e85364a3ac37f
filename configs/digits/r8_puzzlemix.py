# Digits, ResNet-8, PuzzleMix with MCE: alpha 1, as the released baselines have it on CIFAR.
_base_ = 'r8.py'

model = dict(mixer=dict(type='PuzzleMix', alpha=1.0))
