# Table A4, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, SAMix with MCE: 78.33 (alpha 2, as released).
_base_ = 'r50-rsb.py'

model = dict(mixer=dict(type='SAMix', alpha=2.0, momentum_end=0.99999, dropout=0.1))
