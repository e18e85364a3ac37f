# Digits, small ViT, Mixup or SMMix with MCE: a fair coin, alpha and label smoothing as its authors have them.
_base_ = 'vit.py'

_mixers = [dict(type='Mixup', alpha=0.8), dict(type='SMMix')]
model = dict(
    mixer=dict(type='RandomMixer', mixers=_mixers, probs=[0.5, 0.5]),
    head=dict(loss=dict(label_smoothing=0.1)),
)
