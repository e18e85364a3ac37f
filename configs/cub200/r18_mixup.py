# Table 5, CUB-200-2011, ResNet-18, 200 epochs, Mixup with MCE: 78.39 (alpha 0.2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='Mixup', alpha=0.2))
