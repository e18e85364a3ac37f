# Table 6, FGVC-Aircraft, ResNet-50, 15 % of the labels, Co-Tuning: 44.09.
_base_ = 'r50_finetuning_15pct.py'

model = dict(terms=dict(source=dict(type='CoTuning', kind='direct')))
