# Tables 9 and A2, CIFAR-100, WRN-28-8, 800 epochs, AutoMix with MCE: 85.18 (alpha 2, as released).
_base_ = 'wrn28-8.py'

model = dict(mixer=dict(type='AutoMix', alpha=2.0, stage='stage2', mask_annealing=False))
