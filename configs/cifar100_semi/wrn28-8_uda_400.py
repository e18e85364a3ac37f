# Table 7: CIFAR-100, WRN-28-8, 400 labels, UDA: 53.61
_base_ = 'wrn28-8_fixmatch_400.py'

model = dict(
    labeler=dict(temperature=0.4, threshold=dict(tau=0.8)),
    terms=dict(unlabelled=dict(target='soft')),
)
