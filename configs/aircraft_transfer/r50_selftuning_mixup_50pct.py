# Table 6, FGVC-Aircraft, ResNet-50, 50 % of the labels, Self-Tuning+Mixup: 81.46.
_base_ = 'r50_selftuning_50pct.py'

_mixup = dict(type='Mixup', alpha=1.0)
model = dict(terms=dict(mix=dict(type='MixBranch', mixer=_mixup, fold=None, eta=0.0, ramp=dict(type='CosineRamp'))))
