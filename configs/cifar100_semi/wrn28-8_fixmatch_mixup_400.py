# Table 7: CIFAR-100, WRN-28-8, 400 labels, FixMatch+Mixup: 50.61
_base_ = 'wrn28-8_fixmatch_400.py'

_mixup = dict(type='Mixup', alpha=1.0)
model = dict(terms=dict(mix=dict(type='MixBranch', mixer=_mixup, fold=None, eta=0.0, ramp=dict(type='CosineRamp'))))
