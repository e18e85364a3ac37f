# Table 6, Stanford Cars, ResNet-50, 50 % of the labels, Self-Tuning: 88.11.
_base_ = 'r50_selftuning_15pct.py'

train_dataloader = dict(dataset=dict(fraction=0.5))
