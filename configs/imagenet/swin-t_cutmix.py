# Table 4, ImageNet-1k, Swin-T, DeiT recipe, 300 epochs, CutMix with MCE: 80.83 (alpha 0.2, as released).
_base_ = 'swin-t.py'

model = dict(mixer=dict(type='CutMix', alpha=0.2))
