# ResNeXt-50 (32x4d) on Tiny-ImageNet, small-scale recipe; the leaves choose mixer and loss.
_base_ = '../_base_/tiny-imagenet_sgd.py'

model = dict(
    type='MixClassifier',
    backbone=dict(type='CifarResNet', depth=50, groups=32, width_per_group=4),
    mixer=dict(type='NoMix'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
)
