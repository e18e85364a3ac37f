# Table 1, CIFAR-100, WRN-28-8, 800 epochs, CutMix with MCE: 84.45 (alpha 0.2, as released).
_base_ = 'wrn28-8.py'

model = dict(mixer=dict(type='CutMix', alpha=0.2))
