# Table 6, Stanford Cars, ResNet-50, 50 % of the labels, Fine-Tuning: 75.10.
_base_ = 'r50.py'

train_dataloader = dict(dataset=dict(fraction=0.5, unlabelled=None, unlabelled_views=[]))
model = dict(labeler=None)
