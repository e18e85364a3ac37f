# Table 6, Stanford Cars, ResNet-50, 30 % of the labels, Co-Tuning: 69.09.
_base_ = 'r50_finetuning_30pct.py'

model = dict(terms=dict(source=dict(type='CoTuning', kind='reverse')))
