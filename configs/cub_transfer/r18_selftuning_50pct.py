# Table 8, CUB-200-2011, ResNet-18, 50 % of the labels, Self-Tuning: 73.59.
_base_ = 'r18_selftuning_15pct.py'

train_dataloader = dict(dataset=dict(fraction=0.5))
