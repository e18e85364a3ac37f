# Table 6, FGVC-Aircraft, ResNet-50, 50 % of the labels, Fine-Tuning: 67.93.
_base_ = 'r50.py'

train_dataloader = dict(dataset=dict(fraction=0.5, unlabelled=None, unlabelled_views=[]))
model = dict(labeler=None)
