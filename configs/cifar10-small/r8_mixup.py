# A tenth of CIFAR-10, ResNet-8, Mixup with MCE: alpha 1, as released for CIFAR; table cifar10_small.
_base_ = 'r8.py'

model = dict(mixer=dict(type='Mixup', alpha=1.0))
