# Table 6, FGVC-Aircraft, ResNet-50, 50 % of the labels, Co-Tuning+DM: 74.89.
_base_ = 'r50_finetuning_dm_50pct.py'

model = dict(terms=dict(source=dict(type='CoTuning', kind='reverse')))
