# Digits, ResNet-8, FMix with MCE: alpha 0.2, as the released baselines have it on CIFAR.
_base_ = 'r8.py'

model = dict(mixer=dict(type='FMix', alpha=0.2))
