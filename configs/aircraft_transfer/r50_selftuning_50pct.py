# Table 6, FGVC-Aircraft, ResNet-50, 50 % of the labels, Self-Tuning: 81.22.
_base_ = 'r50_selftuning_15pct.py'

train_dataloader = dict(dataset=dict(fraction=0.5))
