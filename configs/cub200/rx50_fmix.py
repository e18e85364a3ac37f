# Table 5, CUB-200-2011, ResNeXt-50, 200 epochs, FMix with MCE: 84.06 (alpha 0.2, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='FMix', alpha=0.2))
