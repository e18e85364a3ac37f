# ResNet-18 on Tiny-ImageNet, small-scale recipe; the leaves choose mixer and loss.
_base_ = '../_base_/tiny-imagenet_sgd.py'

model = dict(
    type='MixClassifier',
    backbone=dict(type='CifarResNet', depth=18),
    mixer=dict(type='NoMix'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
)
