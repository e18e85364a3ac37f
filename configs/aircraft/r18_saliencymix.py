# Table A6, FGVC-Aircraft, ResNet-18, 200 epochs, SaliencyMix with MCE: 80.02 (alpha 0.2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='SaliencyMix', alpha=0.2))
