# Table A5, ImageNet-1k, DeiT-S, DeiT recipe, 300 epochs, AutoMix with MCE: 80.78 (alpha 2, as released).
_base_ = 'deit-s.py'

model = dict(mixer=dict(type='AutoMix', alpha=2.0, stage='block6', momentum_end=0.99999))
