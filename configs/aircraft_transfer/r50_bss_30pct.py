# Table 6, FGVC-Aircraft, ResNet-50, 30 % of the labels, BSS: 59.23.
_base_ = 'r50_finetuning_30pct.py'

model = dict(terms=dict(spectral=dict(type='Spectral', k=1, weight=1e-3)))
