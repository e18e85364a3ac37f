# Table 6, CUB-200-2011, ResNet-50, 30 % of the labels, Self-Tuning: 75.13.
_base_ = 'r50_selftuning_15pct.py'

train_dataloader = dict(dataset=dict(fraction=0.3))
