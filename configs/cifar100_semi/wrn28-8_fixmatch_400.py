# Table 7: CIFAR-100, WRN-28-8, 400 labels, FixMatch: 53.58
_base_ = 'wrn28-8.py'

model = dict(
    labeler=dict(type='Labeler', threshold=dict(type='FixedThreshold')), terms=dict(unlabelled=dict(type='Consistency'))
)
