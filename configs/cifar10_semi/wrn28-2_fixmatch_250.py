# Table 7: CIFAR-10, WRN-28-2, 250 labels, FixMatch: 95.14
_base_ = 'wrn28-2.py'

model = dict(
    labeler=dict(type='Labeler', threshold=dict(type='FixedThreshold')), terms=dict(unlabelled=dict(type='Consistency'))
)
