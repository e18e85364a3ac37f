# Digits, 40 labels, ResNet-8, FixMatch + Mixup: mixed labelled and unlabelled images with MCE.
_base_ = 'r8_fixmatch.py'

_mixup = dict(type='Mixup', alpha=1.0)
model = dict(terms=dict(mix=dict(type='MixBranch', mixer=_mixup, fold=None, eta=0.0, ramp=dict(type='CosineRamp'))))
