# In no table of the paper: CIFAR-100, DeiT-S, 200 epochs, MixPro, Mixup or CutMix with DM(CE); no number printed.
# eta 0.1: no network chooses the pixels of any of them.
_base_ = 'deit-s_mixpro_200e.py'

_losses = [dict(type='DecoupledCE', eta=0.1, label_smoothing=smoothing) for smoothing in (0.1, 0.1, 0.0)]
model = dict(head=dict(loss=dict(losses=_losses)))
