# Table 1, Tiny-ImageNet, ResNeXt-50, 400 epochs, Mixup with MCE: 66.36 (alpha 1, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='Mixup', alpha=1.0))
