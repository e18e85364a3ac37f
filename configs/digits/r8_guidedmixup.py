# Digits, ResNet-8, GuidedMixup (SR) with MCE in half of the batches, as its authors mix.
_base_ = 'r8.py'

_mixers = [dict(type='GuidedMixup', saliency='spectral'), dict(type='NoMix')]
model = dict(mixer=dict(type='RandomMixer', mixers=_mixers, probs=[0.5, 0.5]))
