# Table 5, CUB-200-2011, ResNet-18, 200 epochs, FMix with MCE: 77.28 (alpha 0.2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='FMix', alpha=0.2))
