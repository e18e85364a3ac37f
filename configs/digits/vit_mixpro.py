# Digits, small ViT, MixPro with MCE in half of the batches and Mixup or CutMix in the others, as its authors mix.
# Each patch is a cell: 4 x 4 of them, as many as there.
_base_ = 'vit.py'

_mixers = [dict(type='Mixup', alpha=0.8), dict(type='CutMix', alpha=1.0), dict(type='MixPro', alpha=1.0, cell_size=4)]
model = dict(mixer=dict(type='RandomMixer', mixers=_mixers, probs=[0.25, 0.25, 0.5]))
