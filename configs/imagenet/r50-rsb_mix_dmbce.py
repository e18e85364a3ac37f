# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, Mixup or CutMix with DM(BCE): 78.43.
# By the drawn policy: t 0.5 and xi 1, or t 1 and xi 0.8.
_base_ = 'r50-rsb_mix.py'

_losses = [dict(type='DecoupledBCE', t=0.5, xi=1.0), dict(type='DecoupledBCE', t=1.0, xi=0.8)]
model = dict(head=dict(loss=dict(type='ByPolicy', losses=_losses)))
