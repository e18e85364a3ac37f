# Table A6, CUB-200-2011, ResNeXt-50, 200 epochs, SaliencyMix with MCE: 83.29 (alpha 0.2, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='SaliencyMix', alpha=0.2))
