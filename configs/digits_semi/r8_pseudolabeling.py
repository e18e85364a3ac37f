# Digits, 40 labels, ResNet-8, Pseudo-Labeling: pseudo-labels of at least 0.95 for the very view that they were made of.
_base_ = 'r8.py'

train_dataloader = dict(dataset=dict(unlabelled_views=[_base_._weak], ratio=1))
_own = dict(type='Consistency', view=0, where='apart', ramp=dict(type='LinearRamp', end=0.4))
model = dict(labeler=dict(type='Labeler', where='apart'), terms=dict(unlabelled=_own))
