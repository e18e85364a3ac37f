# Table A5, ImageNet-1k, Swin-T, DeiT recipe, 300 epochs, AutoMix with MCE: 81.80 (alpha 2, as released).
_base_ = 'swin-t.py'

model = dict(mixer=dict(type='AutoMix', alpha=2.0, momentum_end=0.99999))
