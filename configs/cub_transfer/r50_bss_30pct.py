# Table 6, CUB-200-2011, ResNet-50, 30 % of the labels, BSS: 63.38.
_base_ = 'r50_finetuning_30pct.py'

model = dict(terms=dict(spectral=dict(type='Spectral', k=1, weight=1e-3)))
