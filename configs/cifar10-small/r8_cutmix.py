# A tenth of CIFAR-10, ResNet-8, CutMix with MCE: alpha 0.2, as released for CIFAR; table cifar10_small.
_base_ = 'r8.py'

model = dict(mixer=dict(type='CutMix', alpha=0.2))
