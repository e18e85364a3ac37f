# In no table of the paper: CIFAR-100, DeiT-S, 200 epochs, MixPro, Mixup or CutMix with MCE; no number printed.
# Half of the batches by MixPro, without label smoothing, as its authors mix; cells of 64 px are the nearest to their 56
# that patches of 16 px fill.
_base_ = 'deit-s.py'

_mixers = [dict(type='Mixup', alpha=0.8), dict(type='CutMix', alpha=1.0), dict(type='MixPro', alpha=1.0, cell_size=64)]
_losses = [dict(type='MixedCE', label_smoothing=smoothing) for smoothing in (0.1, 0.1, 0.0)]
model = dict(
    mixer=dict(type='RandomMixer', mixers=_mixers, probs=[0.25, 0.25, 0.5]),
    head=dict(loss=dict(_delete_=True, type='ByPolicy', losses=_losses)),
)
