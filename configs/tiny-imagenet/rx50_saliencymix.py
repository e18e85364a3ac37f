# Table A2, Tiny-ImageNet, ResNeXt-50, 400 epochs, SaliencyMix with MCE: 66.55 (alpha 0.2, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='SaliencyMix', alpha=0.2))
