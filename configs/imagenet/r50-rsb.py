# ResNet-50 on ImageNet-1k, RSB A3 as printed; the leaves choose mixer and loss.
_base_ = '../_base_/imagenet_rsb.py'

model = dict(
    type='MixClassifier',
    backbone=dict(type='TimmBackbone', name='resnet50'),
    mixer=dict(type='NoMix'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
)
