# Table 6, CUB-200-2011, ResNet-50, 50 % of the labels, Self-Tuning: 80.22.
_base_ = 'r50_selftuning_15pct.py'

train_dataloader = dict(dataset=dict(fraction=0.5))
