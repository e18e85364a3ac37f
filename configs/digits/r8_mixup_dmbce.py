# Digits, ResNet-8, Mixup with DM(BCE): t 0.5 and xi 1, as the paper sets them for interpolating mixers; alpha 0.2.
_base_ = 'r8.py'

model = dict(mixer=dict(type='Mixup', alpha=0.2), head=dict(loss=dict(type='DecoupledBCE', t=0.5, xi=1.0)))
