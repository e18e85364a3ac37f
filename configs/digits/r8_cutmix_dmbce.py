# Digits, ResNet-8, CutMix with DM(BCE): t 1 and xi 0.8, as the paper sets them for cutting mixers; alpha 0.2.
_base_ = 'r8.py'

model = dict(mixer=dict(type='CutMix', alpha=0.2), head=dict(loss=dict(type='DecoupledBCE', t=1.0, xi=0.8)))
