# Table 6, FGVC-Aircraft, ResNet-50, 30 % of the labels, Co-Tuning+DM: 65.60.
_base_ = 'r50_finetuning_dm_30pct.py'

model = dict(terms=dict(source=dict(type='CoTuning', kind='reverse')))
