# Digits 5 to 9, 20 labels, from 0 to 4: fine-tuning on the labelled images alone.
_base_ = 'r8.py'

train_dataloader = dict(dataset=dict(unlabelled=None, unlabelled_views=[]))
model = dict(labeler=None)
