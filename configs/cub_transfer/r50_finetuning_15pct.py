# Table 6, CUB-200-2011, ResNet-50, 15 % of the labels, Fine-Tuning: 45.25.
_base_ = 'r50.py'

train_dataloader = dict(dataset=dict(unlabelled=None, unlabelled_views=[]))
model = dict(labeler=None)
