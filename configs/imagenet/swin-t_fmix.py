# Table 4, ImageNet-1k, Swin-T, DeiT recipe, 300 epochs, FMix with MCE: 80.37 (alpha 0.2, as released).
_base_ = 'swin-t.py'

model = dict(mixer=dict(type='FMix', alpha=0.2))
