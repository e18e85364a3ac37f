# Table A6, FGVC-Aircraft, ResNet-18, 200 epochs, SAMix with MCE: 82.15 (alpha 2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='SAMix', alpha=2.0, momentum_end=0.99999, lam_gain=1.0, dropout=0.1))
