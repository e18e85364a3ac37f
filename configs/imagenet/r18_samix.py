# Table A3, ImageNet-1k, ResNet-18, 100 epochs, SAMix with MCE: 70.85 (alpha 2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='SAMix', alpha=2.0, momentum_end=0.99999, dropout=0.1))
