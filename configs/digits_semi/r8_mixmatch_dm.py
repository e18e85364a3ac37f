# Digits, 40 labels, ResNet-8, MixMatch + DM: mixed images with DM(CE) and the asymmetric strategy.
_base_ = 'r8_mixmatch.py'

_mixup = dict(type='Mixup', alpha=1.0)
model = dict(terms=dict(mix=dict(type='MixBranch', mixer=_mixup, fold='min', eta=1.0, ramp=dict(type='CosineRamp'))))
