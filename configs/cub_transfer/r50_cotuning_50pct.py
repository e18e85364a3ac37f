# Table 6, CUB-200-2011, ResNet-50, 50 % of the labels, Co-Tuning: 74.64.
_base_ = 'r50_finetuning_50pct.py'

model = dict(terms=dict(source=dict(type='CoTuning', kind='reverse')))
