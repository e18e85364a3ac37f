# Table 6, FGVC-Aircraft, ResNet-50, 30 % of the labels, Co-Tuning: 61.65.
_base_ = 'r50_finetuning_30pct.py'

model = dict(terms=dict(source=dict(type='CoTuning', kind='reverse')))
