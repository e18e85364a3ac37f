# Table 6, Stanford Cars, ResNet-50, 50 % of the labels, Co-Tuning+DM: 83.02.
_base_ = 'r50_finetuning_dm_50pct.py'

model = dict(terms=dict(source=dict(type='CoTuning', kind='reverse')))
