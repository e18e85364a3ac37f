# Digits 5 to 9, 20 labels, from 0 to 4: Self-Tuning.
_base_ = 'r8.py'

model = dict(
    labeler=dict(where='unlabelled'),
    passes=dict(unlabelled=dict()),
    terms=dict(contrast=dict(type='GroupContrast', width=64)),
)
