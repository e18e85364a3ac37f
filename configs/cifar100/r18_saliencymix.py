# Table A2, CIFAR-100, ResNet-18, 800 epochs, SaliencyMix with MCE: 79.12 (alpha 0.2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='SaliencyMix', alpha=0.2))
