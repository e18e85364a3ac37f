# Table A2, Tiny-ImageNet, ResNet-18, 400 epochs, SaliencyMix with MCE: 64.60 (alpha 0.2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='SaliencyMix', alpha=0.2))
