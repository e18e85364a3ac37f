# Table 5, FGVC-Aircraft, ResNeXt-50, 200 epochs, Mixup with MCE: 85.18 (alpha 0.2, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='Mixup', alpha=0.2))
