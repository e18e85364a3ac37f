# Digits, ResNet-8, GuidedMixup (SR) with DM(CE): eta 0.1, as the paper sets it for static mixers: SR asks no network.
_base_ = 'r8_guidedmixup.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
