# Digits, ResNet-8, AutoMix with DM(CE): eta 1, as the paper sets it for dynamic mixers; alpha 2.
_base_ = 'r8_automix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
