# Table 2, ImageNet-1k, ResNet-50, 100 epochs, ManifoldMix with MCE: 77.01 (alpha 0.2, as released).
_base_ = 'r50.py'

model = dict(mixer=dict(type='ManifoldMix', alpha=0.2))
