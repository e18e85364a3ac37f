# To inherit from: WRN-28-8 with the released settings (400 epochs), which probably made the printed numbers.
_base_ = '../_base_/cifar100_sgd400.py'

model = dict(
    type='MixClassifier',
    backbone=dict(type='WideResNet', depth=28, widen_factor=8),
    mixer=dict(type='NoMix'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
)
optim_wrapper = dict(paramwise_cfg=dict(custom_keys=dict(mixer=dict(momentum=0.0))))  # the mix block, as released
