# Table 10, CIFAR-100, ConvNeXt-T, 200 epochs, Mixup with MCE: 81.13 (alpha 0.8, as released).
_base_ = 'convnext-t.py'

model = dict(mixer=dict(type='Mixup', alpha=0.8))
