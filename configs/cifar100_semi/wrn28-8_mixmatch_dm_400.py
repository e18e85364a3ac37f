# Table 7: CIFAR-100, WRN-28-8, 400 labels, MixMatch+DM: 35.72
_base_ = 'wrn28-8_mixmatch_400.py'

_mixup = dict(type='Mixup', alpha=1.0)
model = dict(terms=dict(mix=dict(type='MixBranch', mixer=_mixup, fold='min', eta=1.0, ramp=dict(type='CosineRamp'))))
