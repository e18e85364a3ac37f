# Table 1, CIFAR-100, ResNeXt-50, 800 epochs, FMix with MCE: 81.90 (alpha 0.2, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='FMix', alpha=0.2))
