# Table A4, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, SaliencyMix with MCE: 76.85 (alpha 0.2, as released).
_base_ = 'r50-rsb.py'

model = dict(mixer=dict(type='SaliencyMix', alpha=0.2))
