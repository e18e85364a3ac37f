# Table 6, FGVC-Aircraft, ResNet-50, 15 % of the labels, Co-Tuning+DM: 49.27.
_base_ = 'r50_finetuning_dm_15pct.py'

model = dict(terms=dict(source=dict(type='CoTuning', kind='direct')))
