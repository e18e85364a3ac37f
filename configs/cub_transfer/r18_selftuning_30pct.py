# Table 8, CUB-200-2011, ResNet-18, 30 % of the labels, Self-Tuning: 69.12.
_base_ = 'r18_selftuning_15pct.py'

train_dataloader = dict(dataset=dict(fraction=0.3))
