# Table 6, CUB-200-2011, ResNet-50, 50 % of the labels, Fine-Tuning: 70.12.
_base_ = 'r50.py'

train_dataloader = dict(dataset=dict(fraction=0.5, unlabelled=None, unlabelled_views=[]))
model = dict(labeler=None)
