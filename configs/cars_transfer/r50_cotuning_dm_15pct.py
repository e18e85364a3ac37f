# Table 6, Stanford Cars, ResNet-50, 15 % of the labels, Co-Tuning+DM: 51.78.
_base_ = 'r50_finetuning_dm_15pct.py'

model = dict(terms=dict(source=dict(type='CoTuning', kind='direct')))
