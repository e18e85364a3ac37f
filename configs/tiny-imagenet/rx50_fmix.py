# Table 1, Tiny-ImageNet, ResNeXt-50, 400 epochs, FMix with MCE: 65.08 (alpha 0.2, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='FMix', alpha=0.2))
