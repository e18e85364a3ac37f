# Table 2, ImageNet-1k, ResNet-34, 100 epochs, ManifoldMix with MCE: 73.98 (alpha 0.2, as released).
_base_ = 'r34.py'

model = dict(mixer=dict(type='ManifoldMix', alpha=0.2))
