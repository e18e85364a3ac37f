# Digits, ResNet-8, no mixing, binary cross-entropy.
_base_ = 'r8_vanilla.py'

model = dict(head=dict(loss=dict(type='MixedBCE')))
