# In no table of the paper: CIFAR-100, DeiT-S, 200 epochs, Mixup or SMMix with MCE; no number printed.
# A fair coin for each batch, as its authors have it.
_base_ = 'deit-s.py'

_mixers = [dict(type='Mixup', alpha=0.8), dict(type='SMMix')]
model = dict(mixer=dict(type='RandomMixer', mixers=_mixers, probs=[0.5, 0.5]))
