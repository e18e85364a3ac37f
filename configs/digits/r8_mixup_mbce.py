# Digits, ResNet-8, Mixup with MBCE(one).
_base_ = 'r8_mixup.py'

model = dict(head=dict(loss=dict(type='MixedBCE')))
