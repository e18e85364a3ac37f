# Table 1, CIFAR-100, ResNet-18, 800 epochs, ManifoldMix with MCE: 80.35 (alpha 2, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='ManifoldMix', alpha=2.0))
