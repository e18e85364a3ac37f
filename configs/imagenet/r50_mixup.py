# Table 2, ImageNet-1k, ResNet-50, 100 epochs, Mixup with MCE: 77.12 (alpha 0.2, as released).
_base_ = 'r50.py'

model = dict(mixer=dict(type='Mixup', alpha=0.2))
