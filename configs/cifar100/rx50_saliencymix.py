# Table A2, CIFAR-100, ResNeXt-50, 800 epochs, SaliencyMix with MCE: 81.53 (alpha 0.2, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='SaliencyMix', alpha=0.2))
