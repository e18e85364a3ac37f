# Digits, ResNet-8, no mixing, DM(BCE): without mixed pairs it is MBCE(one), number for number.
_base_ = 'r8_vanilla.py'

model = dict(head=dict(loss=dict(type='DecoupledBCE')))
