# Digits, ResNet-8, SmoothMix with MCE: blobs of a width drawn as in its paper, so that alpha has no effect.
_base_ = 'r8.py'

model = dict(mixer=dict(type='SmoothMix', alpha=0.2))
