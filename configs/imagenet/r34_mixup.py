# Table 2, ImageNet-1k, ResNet-34, 100 epochs, Mixup with MCE: 73.97 (alpha 0.2, as released).
_base_ = 'r34.py'

model = dict(mixer=dict(type='Mixup', alpha=0.2))
