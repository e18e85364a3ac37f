# To inherit from: ResNet-50 with RSB A3 as published (trained at 160 px), which probably made the printed numbers.
_base_ = '../_base_/imagenet_rsb160.py'

model = dict(
    type='MixClassifier',
    backbone=dict(type='TimmBackbone', name='resnet50'),
    mixer=dict(type='NoMix'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
)
