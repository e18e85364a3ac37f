# Table 6, FGVC-Aircraft, ResNet-50, 30 % of the labels, Fine-Tuning: 57.46.
_base_ = 'r50.py'

train_dataloader = dict(dataset=dict(fraction=0.3, unlabelled=None, unlabelled_views=[]))
model = dict(labeler=None)
