# Table 7: CIFAR-100, WRN-28-8, 400 labels, FlexMatch: 60.06
_base_ = 'wrn28-8_fixmatch_400.py'

model = dict(labeler=dict(threshold=dict(type='CurriculumThreshold')))
