# Digits 5 to 9, 20 labels, from 0 to 4: Batch Spectral Shrinkage.
_base_ = 'r8_finetuning.py'

model = dict(terms=dict(spectral=dict(type='Spectral')))
