# Digits 5 to 9, 20 labels, from 0 to 4: Co-Tuning by the direct relation.
_base_ = 'r8_finetuning.py'

model = dict(terms=dict(source=dict(type='CoTuning', source_classes=5)))
