# Table 1, Tiny-ImageNet, ResNet-18, 400 epochs, FMix with MCE: 63.47 (alpha 0.2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='FMix', alpha=0.2))
