# ConvNeXt-T on CIFAR-100 at 32 px with a small stem, 200 epochs; the leaves choose mixer and loss.
_base_ = '../_base_/cifar100_convnext.py'

model = dict(
    type='MixClassifier',
    backbone=dict(type='TimmBackbone', name='convnext_tiny', stem='cifar'),
    mixer=dict(type='NoMix'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
)
