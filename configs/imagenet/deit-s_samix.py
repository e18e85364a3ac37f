# Table A5, ImageNet-1k, DeiT-S, DeiT recipe, 300 epochs, SAMix with MCE: 80.94 (alpha 2, as released).
_base_ = 'deit-s.py'

model = dict(mixer=dict(type='SAMix', alpha=2.0, stage='block6', momentum_end=0.99999, dropout=0.1))
