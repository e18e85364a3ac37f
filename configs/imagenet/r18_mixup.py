# Table 2, ImageNet-1k, ResNet-18, 100 epochs, Mixup with MCE: 69.98 (alpha 0.2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='Mixup', alpha=0.2))
