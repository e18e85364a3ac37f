# ResNet-8 on CIFAR-10, to try things out on natural images; the leaves choose mixer and loss.
_base_ = '../_base_/cifar10_short.py'

model = dict(
    type='MixClassifier',
    backbone=dict(type='ThinResNet', depth=8),
    mixer=dict(type='NoMix'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
)
