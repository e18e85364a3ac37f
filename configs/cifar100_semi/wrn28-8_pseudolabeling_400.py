# Table 7: CIFAR-100, WRN-28-8, 400 labels, Pseudo-Labeling: 12.55
_base_ = 'wrn28-8.py'

train_dataloader = dict(dataset=dict(unlabelled_views=[_base_._weak], ratio=1))
_own = dict(type='Consistency', view=0, where='apart', ramp=dict(type='LinearRamp', end=0.4))
model = dict(labeler=dict(type='Labeler', where='apart'), terms=dict(unlabelled=_own))
