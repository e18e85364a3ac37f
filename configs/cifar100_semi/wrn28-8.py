# To inherit from: CIFAR-100, WRN-28-8 on labelled images alone; the leaves choose the method and the number of labels.
_base_ = '../_base_/cifar100_semi.py'

model = dict(
    type='SemiClassifier',
    backbone=dict(type='WideResNet', depth=28, widen_factor=8),
    head=dict(type='LinearHead', init='xavier', loss=dict(type='MixedCE')),
    terms=dict(labelled=dict(type='Supervised')),
)
