# Table 7: CIFAR-10, WRN-28-2, 250 labels, FlexMatch: 95.02
_base_ = 'wrn28-2_fixmatch_250.py'

model = dict(labeler=dict(threshold=dict(type='CurriculumThreshold')))
