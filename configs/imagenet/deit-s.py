# DeiT-S on ImageNet-1k, DeiT recipe; the leaves choose mixer and loss.
_base_ = '../_base_/imagenet_deit.py'

model = dict(
    type='MixClassifier',
    backbone=dict(type='TimmBackbone', name='deit_small_patch16_224'),
    mixer=dict(type='NoMix'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
)
