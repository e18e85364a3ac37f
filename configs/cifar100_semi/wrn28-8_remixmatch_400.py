# Table 7: CIFAR-100, WRN-28-8, 400 labels, ReMixMatch: 57.15
_base_ = 'wrn28-8_mixmatch_400.py'

train_dataloader = dict(dataset=dict(unlabelled_views=[_base_._weak, _base_._strong, _base_._strong]))
_ramp = dict(type='LinearRamp', end=1 / 64)
_mixed = dict(mixer=dict(alpha=0.75), views=(1, 2, 0), distance='soft', weight=1.5, ramp=_ramp)
_anchor = dict(type='Consistency', target='soft', masked=False, weight=0.5, ramp=_ramp, where='apart')
_labeler = dict(views=(0,), align=dict(type='DistributionAlignment'))
model = dict(labeler=_labeler, terms=dict(mixed=_mixed, anchor=_anchor, rotation=dict(type='Rotation')))
