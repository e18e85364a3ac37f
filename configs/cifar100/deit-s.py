# DeiT-S on CIFAR-100 at 224 px, 200 epochs; the leaves choose mixer and loss.
_base_ = '../_base_/cifar100_deit.py'

model = dict(
    type='MixClassifier',
    backbone=dict(type='TimmBackbone', name='deit_small_patch16_224', img_size=224),
    mixer=dict(type='NoMix'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
)
