# Digits, ResNet-8, Mixup with MBCE(two).
_base_ = 'r8_mixup.py'

model = dict(head=dict(loss=dict(type='MixedBCE', two_hot=True)))
