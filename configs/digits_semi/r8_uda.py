# Digits, 40 labels, ResNet-8, UDA: FixMatch with sharpened pseudo-labels of at least 0.8.
_base_ = 'r8_fixmatch.py'

model = dict(
    labeler=dict(temperature=0.4, threshold=dict(tau=0.8)),
    terms=dict(unlabelled=dict(target='soft')),
)
