# ResNet-8 on the digits; the leaves choose mixer and loss.
_base_ = '../_base_/digits_sgd.py'

model = dict(
    type='MixClassifier',
    backbone=dict(type='ThinResNet', depth=8),
    mixer=dict(type='NoMix'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
)
