# Table 1, CIFAR-100, ResNeXt-50, 800 epochs, ManifoldMix with MCE: 82.88 (alpha 2, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='ManifoldMix', alpha=2.0))
