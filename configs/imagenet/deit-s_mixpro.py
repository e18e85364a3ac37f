# In no table of the paper: ImageNet-1k, DeiT-S, 300 epochs, MixPro, Mixup or CutMix with MCE; no number printed.
# Half of the batches by MixPro, without label smoothing, as its authors mix. They print 73.8 for DeiT-T with patches of
# 14 px and cells of 56; cells of 64 are the nearest that patches of 16 px fill.
_base_ = 'deit-s-mixpro.py'

_mixers = [dict(type='Mixup', alpha=0.8), dict(type='CutMix', alpha=1.0), dict(type='MixPro', alpha=1.0, cell_size=64)]
_losses = [dict(type='MixedCE', label_smoothing=smoothing) for smoothing in (0.1, 0.1, 0.0)]
model = dict(
    mixer=dict(type='RandomMixer', mixers=_mixers, probs=[0.25, 0.25, 0.5]),
    head=dict(loss=dict(_delete_=True, type='ByPolicy', losses=_losses)),
)
