# CIFAR-10, ResNet-8, Mixup with MCE: alpha 1, as the released baselines have it on CIFAR.
_base_ = 'r8.py'

model = dict(mixer=dict(type='Mixup', alpha=1.0))
