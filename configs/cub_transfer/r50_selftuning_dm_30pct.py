# Table 6, CUB-200-2011, ResNet-50, 30 % of the labels, Self-Tuning+DM: 79.50.
_base_ = 'r50_selftuning_30pct.py'

_mixup = dict(type='Mixup', alpha=1.0)
model = dict(terms=dict(mix=dict(type='MixBranch', mixer=_mixup, fold='min', eta=1.0, ramp=dict(type='CosineRamp'))))
