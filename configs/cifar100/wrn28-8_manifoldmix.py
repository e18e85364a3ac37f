# Table 1, CIFAR-100, WRN-28-8, 800 epochs, ManifoldMix with MCE: 83.24 (alpha 2, as released).
_base_ = 'wrn28-8.py'

model = dict(mixer=dict(type='ManifoldMix', alpha=2.0))
