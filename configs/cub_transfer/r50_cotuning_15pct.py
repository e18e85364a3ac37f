# Table 6, CUB-200-2011, ResNet-50, 15 % of the labels, Co-Tuning: 52.58.
_base_ = 'r50_finetuning_15pct.py'

model = dict(terms=dict(source=dict(type='CoTuning', kind='direct')))
