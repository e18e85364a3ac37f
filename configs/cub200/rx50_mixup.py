# Table 5, CUB-200-2011, ResNeXt-50, 200 epochs, Mixup with MCE: 84.58 (alpha 0.2, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='Mixup', alpha=0.2))
