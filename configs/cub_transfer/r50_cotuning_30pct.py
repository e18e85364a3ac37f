# Table 6, CUB-200-2011, ResNet-50, 30 % of the labels, Co-Tuning: 66.47.
_base_ = 'r50_finetuning_30pct.py'

model = dict(terms=dict(source=dict(type='CoTuning', kind='reverse')))
