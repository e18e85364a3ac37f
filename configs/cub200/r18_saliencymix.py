# Table A6, CUB-200-2011, ResNet-18, 200 epochs, SaliencyMix with MCE: 77.95 (alpha 0.2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='SaliencyMix', alpha=0.2))
