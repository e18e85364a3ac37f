# Digits 5 to 9, 20 labels, from 0 to 4: Self-Tuning + Mixup.
_base_ = 'r8_selftuning.py'

_mixup = dict(type='Mixup', alpha=1.0)
model = dict(terms=dict(mix=dict(type='MixBranch', mixer=_mixup, fold=None, eta=0.0, ramp=dict(type='CosineRamp'))))
