# Table 8, CUB-200-2011, ResNet-18, 15 % of the labels, Self-Tuning: 57.82.
_base_ = 'r18.py'

train_dataloader = dict(
    dataset=dict(labelled_views=[_base_._view] * 2, unlabelled_views=[_base_._view] * 2)  # query and key
)
model = dict(terms=dict(contrast=dict(type='GroupContrast')))
