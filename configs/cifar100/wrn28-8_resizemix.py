# Table 1, CIFAR-100, WRN-28-8, 800 epochs, ResizeMix with MCE: 84.87 (alpha 1, as released).
_base_ = 'wrn28-8.py'

model = dict(mixer=dict(type='ResizeMix', alpha=1.0))
