# Table 6, Stanford Cars, ResNet-50, 15 % of the labels, Fine-Tuning+DM: 41.30.
_base_ = 'r50.py'

_mixup = dict(type='Mixup', alpha=1.0)
model = dict(terms=dict(mix=dict(type='MixBranch', mixer=_mixup, fold='min', eta=1.0, ramp=dict(type='CosineRamp'))))
