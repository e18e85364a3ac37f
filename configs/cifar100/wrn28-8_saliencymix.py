# Table A2, CIFAR-100, WRN-28-8, 800 epochs, SaliencyMix with MCE: 84.35 (alpha 0.2, as released).
_base_ = 'wrn28-8.py'

model = dict(mixer=dict(type='SaliencyMix', alpha=0.2))
