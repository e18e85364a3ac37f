# Table 1, CIFAR-100, ResNet-18, 800 epochs, CutMix with MCE: 78.17 (alpha 0.2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='CutMix', alpha=0.2))
