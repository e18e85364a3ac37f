# Digits, ResNet-8, SmoothMix with DM(CE): eta 0.1; blobs of a width drawn as in its paper: alpha has no effect.
_base_ = 'r8.py'

model = dict(mixer=dict(type='SmoothMix', alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
