# Table 6, Stanford Cars, ResNet-50, 30 % of the labels, Self-Tuning: 83.58.
_base_ = 'r50_selftuning_15pct.py'

train_dataloader = dict(dataset=dict(fraction=0.3))
