# Table 6, Stanford Cars, ResNet-50, 15 % of the labels, Self-Tuning: 72.50.
_base_ = 'r50.py'

train_dataloader = dict(
    dataset=dict(labelled_views=[_base_._view] * 2, unlabelled_views=[_base_._view] * 2)  # query and key
)
model = dict(terms=dict(contrast=dict(type='GroupContrast')))
