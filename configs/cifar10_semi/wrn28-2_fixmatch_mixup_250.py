# Table 7: CIFAR-10, WRN-28-2, 250 labels, FixMatch+Mixup: 95.05
_base_ = 'wrn28-2_fixmatch_250.py'

_mixup = dict(type='Mixup', alpha=1.0)
model = dict(terms=dict(mix=dict(type='MixBranch', mixer=_mixup, fold=None, eta=0.0, ramp=dict(type='CosineRamp'))))
