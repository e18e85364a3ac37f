# Digits, ResNet-8, ManifoldMix with MCE: alpha 2, as the released baselines have it on CIFAR.
_base_ = 'r8.py'

model = dict(mixer=dict(type='ManifoldMix', alpha=2.0))
