# ResNet-8 on the digits with 40 labels; the leaves choose the method.
_base_ = '../_base_/digits_semi.py'

model = dict(
    type='SemiClassifier',
    backbone=dict(type='ThinResNet', depth=8),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
    terms=dict(labelled=dict(type='Supervised')),
)
