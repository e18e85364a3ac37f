# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, ManifoldMix with MCE: 76.14 (alpha 0.2, as released).
_base_ = 'r50-rsb.py'

model = dict(mixer=dict(type='ManifoldMix', alpha=0.2))
