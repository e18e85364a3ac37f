# Table 1, CIFAR-100, ResNeXt-50, 800 epochs, Mixup with MCE: 82.10 (alpha 1, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='Mixup', alpha=1.0))
