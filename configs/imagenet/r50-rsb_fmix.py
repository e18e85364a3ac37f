# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, FMix with MCE: 76.09 (alpha 0.2, as released).
_base_ = 'r50-rsb.py'

model = dict(mixer=dict(type='FMix', alpha=0.2))
