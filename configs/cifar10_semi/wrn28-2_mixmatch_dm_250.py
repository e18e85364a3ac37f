# Table 7: CIFAR-10, WRN-28-2, 250 labels, MixMatch+DM: 89.16
_base_ = 'wrn28-2_mixmatch_250.py'

_mixup = dict(type='Mixup', alpha=1.0)
model = dict(terms=dict(mix=dict(type='MixBranch', mixer=_mixup, fold='min', eta=1.0, ramp=dict(type='CosineRamp'))))
