# ResNeXt-50 (32x4d) on CIFAR-100, small-scale recipe; the leaves choose mixer and loss.
_base_ = '../_base_/cifar100_sgd.py'

model = dict(
    type='MixClassifier',
    backbone=dict(type='CifarResNet', depth=50, groups=32, width_per_group=4),
    mixer=dict(type='NoMix'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
)
