# Table 4, ImageNet-1k, Swin-T, DeiT recipe, 300 epochs, Mixup with MCE: 80.71 (alpha 0.2, as released).
_base_ = 'swin-t.py'

model = dict(mixer=dict(type='Mixup', alpha=0.2))
