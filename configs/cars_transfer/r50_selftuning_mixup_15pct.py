# Table 6, Stanford Cars, ResNet-50, 15 % of the labels, Self-Tuning+Mixup: 70.31.
_base_ = 'r50_selftuning_15pct.py'

_mixup = dict(type='Mixup', alpha=1.0)
model = dict(terms=dict(mix=dict(type='MixBranch', mixer=_mixup, fold=None, eta=0.0, ramp=dict(type='CosineRamp'))))
