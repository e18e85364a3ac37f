# Table 5, FGVC-Aircraft, ResNet-18, 200 epochs, FMix with MCE: 79.36 (alpha 0.2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='FMix', alpha=0.2))
