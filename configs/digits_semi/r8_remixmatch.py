# Digits, 40 labels, ResNet-8, ReMixMatch: MixMatch with aligned pseudo-labels, strong views and rotations.
_base_ = 'r8_mixmatch.py'

train_dataloader = dict(dataset=dict(unlabelled_views=[_base_._weak, _base_._strong, _base_._strong]))
_ramp = dict(type='LinearRamp', end=1 / 64)
_mixed = dict(mixer=dict(alpha=0.75), views=(1, 2, 0), distance='soft', weight=1.5, ramp=_ramp)
_anchor = dict(type='Consistency', target='soft', masked=False, weight=0.5, ramp=_ramp, where='apart')
_labeler = dict(views=(0,), align=dict(type='DistributionAlignment'))
model = dict(labeler=_labeler, terms=dict(mixed=_mixed, anchor=_anchor, rotation=dict(type='Rotation')))
