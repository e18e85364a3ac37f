# Table 6, CUB-200-2011, ResNet-50, 15 % of the labels, Co-Tuning+DM: 54.96.
_base_ = 'r50_finetuning_dm_15pct.py'

model = dict(terms=dict(source=dict(type='CoTuning', kind='direct')))
