# Digits, 40 labels, ResNet-8: the labelled images alone.
_base_ = 'r8.py'

train_dataloader = dict(dataset=dict(unlabelled=None))
