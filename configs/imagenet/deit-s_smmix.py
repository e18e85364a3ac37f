# In no table of the paper: ImageNet-1k, DeiT-S, 300 epochs, Mixup or SMMix with MCE; its authors printed: 81.1.
# The DeiT recipe without random erasing, and a fair coin for each batch, as they have it.
_base_ = 'deit-s.py'

_mixers = [dict(type='Mixup', alpha=0.8), dict(type='SMMix')]
model = dict(
    data_preprocessor=dict(erasing=None),
    mixer=dict(type='RandomMixer', mixers=_mixers, probs=[0.5, 0.5]),
)
