# Digits, 40 labels, ResNet-8, FixMatch: hard pseudo-labels of at least 0.95 of the weak view for the strong one.
_base_ = 'r8.py'

model = dict(
    labeler=dict(type='Labeler', threshold=dict(type='FixedThreshold')), terms=dict(unlabelled=dict(type='Consistency'))
)
