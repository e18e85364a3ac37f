# Digits 5 to 9, 20 labels, from 0 to 4: fine-tuning + DM.
_base_ = 'r8.py'

_mixup = dict(type='Mixup', alpha=1.0)
model = dict(terms=dict(mix=dict(type='MixBranch', mixer=_mixup, fold='min', eta=1.0, ramp=dict(type='CosineRamp'))))
