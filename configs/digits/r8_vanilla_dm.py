# Digits, ResNet-8, no mixing, DM(CE): without mixed pairs it is the cross-entropy, number for number.
_base_ = 'r8_vanilla.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
