# Table 1, CIFAR-100, ResNet-18, 800 epochs, FMix with MCE: 79.69 (alpha 0.2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='FMix', alpha=0.2))
