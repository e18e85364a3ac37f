# Table 8, CUB-200-2011, ResNet-18, 100 % of the labels, Self-Tuning: 75.08.
_base_ = 'r18_selftuning_15pct.py'

# All images have labels: the unlabelled stream is all of them, labels dropped.
train_dataloader = dict(dataset=dict(fraction=1.0, unlabelled='all'))
