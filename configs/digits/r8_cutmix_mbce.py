# Digits, ResNet-8, CutMix with MBCE(one).
_base_ = 'r8_cutmix.py'

model = dict(head=dict(loss=dict(type='MixedBCE')))
