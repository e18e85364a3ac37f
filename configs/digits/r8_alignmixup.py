# Digits, ResNet-8, AlignMixup with MCE: alpha 2, as its authors take.
_base_ = 'r8.py'

model = dict(mixer=dict(type='AlignMixup', alpha=2.0))
