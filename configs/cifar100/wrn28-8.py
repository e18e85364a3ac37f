# WRN-28-8 on CIFAR-100, small-scale recipe; the leaves choose mixer and loss.
_base_ = '../_base_/cifar100_sgd.py'

model = dict(
    type='MixClassifier',
    backbone=dict(type='WideResNet', depth=28, widen_factor=8),
    mixer=dict(type='NoMix'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
)
optim_wrapper = dict(paramwise_cfg=dict(custom_keys=dict(mixer=dict(momentum=0.0))))  # the mix block, as released
