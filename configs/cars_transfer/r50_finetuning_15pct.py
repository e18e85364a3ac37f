# Table 6, Stanford Cars, ResNet-50, 15 % of the labels, Fine-Tuning: 36.77.
_base_ = 'r50.py'

train_dataloader = dict(dataset=dict(unlabelled=None, unlabelled_views=[]))
model = dict(labeler=None)
