# Digits, ResNet-8, SAMix with DM(CE): eta 1, as the paper sets it for dynamic mixers; alpha 2.
_base_ = 'r8_samix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
