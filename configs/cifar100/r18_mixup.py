# Table 1, CIFAR-100, ResNet-18, 800 epochs, Mixup with MCE: 79.12 (alpha 1, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='Mixup', alpha=1.0))
