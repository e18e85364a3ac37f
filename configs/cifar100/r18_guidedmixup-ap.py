# In no table of the paper: CIFAR-100, ResNet-18, 800 epochs, GuidedMixup (AP) with MCE in 0.8 of the batches, as its
# authors mix; no number printed.
_base_ = 'r18.py'

_mixers = [dict(type='GuidedMixup', saliency='gradient'), dict(type='NoMix')]
model = dict(mixer=dict(type='RandomMixer', mixers=_mixers, probs=[0.8, 0.2]))
