# Table A5, ImageNet-1k, DeiT-S, DeiT recipe, 300 epochs, SaliencyMix with MCE: 79.32 (alpha 0.2, as released).
_base_ = 'deit-s.py'

model = dict(mixer=dict(type='SaliencyMix', alpha=0.2))
