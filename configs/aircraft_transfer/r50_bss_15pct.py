# Table 6, FGVC-Aircraft, ResNet-50, 15 % of the labels, BSS: 40.41.
_base_ = 'r50_finetuning_15pct.py'

model = dict(terms=dict(spectral=dict(type='Spectral', k=1, weight=1e-3)))
