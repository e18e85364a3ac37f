# Table 6, Stanford Cars, ResNet-50, 50 % of the labels, BSS: 76.78.
_base_ = 'r50_finetuning_50pct.py'

model = dict(terms=dict(spectral=dict(type='Spectral', k=1, weight=1e-3)))
