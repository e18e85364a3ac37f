# Table 6, CUB-200-2011, ResNet-50, 30 % of the labels, Self-Tuning+Mixup: 74.65.
_base_ = 'r50_selftuning_30pct.py'

_mixup = dict(type='Mixup', alpha=1.0)
model = dict(terms=dict(mix=dict(type='MixBranch', mixer=_mixup, fold=None, eta=0.0, ramp=dict(type='CosineRamp'))))
