# ResNet-8 from the digits 0 to 4, to be transferred to 5 to 9; the leaves choose the method.
_base_ = '../_base_/digits_transfer.py'

model = dict(
    type='SemiClassifier',
    backbone=dict(type='ThinResNet', depth=8, pretrained='work_dirs/digits_transfer/r8_source/seed0/epoch_20.pth'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
    labeler=dict(type='Labeler', where='guess', threshold=dict(type='FixedThreshold', tau=0.0)),
    terms=dict(labelled=dict(type='Supervised')),
)
