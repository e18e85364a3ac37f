# Table 7: CIFAR-10, WRN-28-2, 250 labels, UDA: 94.84
_base_ = 'wrn28-2_fixmatch_250.py'

model = dict(
    labeler=dict(temperature=0.4, threshold=dict(tau=0.8)),
    terms=dict(unlabelled=dict(target='soft')),
)
