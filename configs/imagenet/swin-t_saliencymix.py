# Table A5, ImageNet-1k, Swin-T, DeiT recipe, 300 epochs, SaliencyMix with MCE: 80.68 (alpha 0.2, as released).
_base_ = 'swin-t.py'

model = dict(mixer=dict(type='SaliencyMix', alpha=0.2))
