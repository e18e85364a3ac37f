# Table 6, FGVC-Aircraft, ResNet-50, 50 % of the labels, Fine-Tuning+DM: 70.38.
_base_ = 'r50.py'

train_dataloader = dict(dataset=dict(fraction=0.5))
_mixup = dict(type='Mixup', alpha=1.0)
model = dict(terms=dict(mix=dict(type='MixBranch', mixer=_mixup, fold='min', eta=1.0, ramp=dict(type='CosineRamp'))))
