# Table 1, CIFAR-100, WRN-28-8, 800 epochs, Mixup with MCE: 82.82 (alpha 1, as released).
_base_ = 'wrn28-8.py'

model = dict(mixer=dict(type='Mixup', alpha=1.0))
