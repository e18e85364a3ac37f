# Digits, 40 labels, ResNet-8, FlexMatch: FixMatch with a threshold for each class.
_base_ = 'r8_fixmatch.py'

model = dict(labeler=dict(threshold=dict(type='CurriculumThreshold')))
