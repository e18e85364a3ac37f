# Table 1, CIFAR-100, ResNeXt-50, 800 epochs, CutMix with MCE: 81.67 (alpha 0.2, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='CutMix', alpha=0.2))
