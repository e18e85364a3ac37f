# Digits, ResNet-8, PuzzleMix + RSB with MCE: half the batches PuzzleMix, a quarter each Mixup and CutMix as in RSB A3.
_base_ = 'r8.py'

_mixers = [dict(type='PuzzleMix', alpha=1.0), dict(type='Mixup', alpha=0.1), dict(type='CutMix', alpha=1.0)]
model = dict(mixer=dict(type='RandomMixer', mixers=_mixers, probs=[0.5, 0.25, 0.25]))
