# Table 5, FGVC-Aircraft, ResNet-18, 200 epochs, Mixup with MCE: 79.52 (alpha 0.2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='Mixup', alpha=0.2))
