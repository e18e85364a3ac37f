# Table 8, CUB-200-2011, ResNet-18, 50 % of the labels, Self-Tuning+MCE+AS(lambda<=0.5): 75.40.
_base_ = 'r18_selftuning_50pct.py'

_mixup = dict(type='Mixup', alpha=1.0)
model = dict(terms=dict(mix=dict(type='MixBranch', mixer=_mixup, fold='min', eta=0.0, ramp=dict(type='CosineRamp'))))
