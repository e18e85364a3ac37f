# Table 1, CIFAR-100, WRN-28-8, 800 epochs, FMix with MCE: 84.21 (alpha 0.2, as released).
_base_ = 'wrn28-8.py'

model = dict(mixer=dict(type='FMix', alpha=0.2))
