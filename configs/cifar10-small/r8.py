# ResNet-8 on a tenth of CIFAR-10, for the table cifar10_small; the leaves choose mixer and loss.
_base_ = '../_base_/cifar10-small_sgd.py'

model = dict(
    type='MixClassifier',
    backbone=dict(type='ThinResNet', depth=8),
    mixer=dict(type='NoMix'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
)
