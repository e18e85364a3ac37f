# To inherit from: CIFAR-10, WRN-28-2 on labelled images alone; the leaves choose the method and the number of labels.
_base_ = '../_base_/cifar10_semi.py'

model = dict(
    type='SemiClassifier',
    backbone=dict(type='WideResNet', depth=28, widen_factor=2),
    head=dict(type='LinearHead', init='xavier', loss=dict(type='MixedCE')),
    terms=dict(labelled=dict(type='Supervised')),
)
