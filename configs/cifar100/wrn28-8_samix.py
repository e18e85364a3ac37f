# Table A2, CIFAR-100, WRN-28-8, 800 epochs, SAMix with MCE: 85.50 (alpha 2, as released).
_base_ = 'wrn28-8.py'

model = dict(mixer=dict(type='SAMix', alpha=2.0, stage='stage2', mask_annealing=False, lam_gain=0.25))
