# Digits, ResNet-8, PuzzleMix + RSB with DM(CE): eta 1 and alpha 2 for PuzzleMix, eta 0.1 and alpha 0.2 for the others.
_base_ = 'r8.py'

_mixers = [dict(type='PuzzleMix', alpha=2.0), dict(type='Mixup', alpha=0.2), dict(type='CutMix', alpha=0.2)]
_losses = [dict(type='DecoupledCE', eta=1.0), dict(type='DecoupledCE', eta=0.1), dict(type='DecoupledCE', eta=0.1)]
model = dict(
    mixer=dict(type='RandomMixer', mixers=_mixers, probs=[0.5, 0.25, 0.25]),
    head=dict(loss=dict(type='ByPolicy', losses=_losses)),
)
