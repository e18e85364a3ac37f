# Table 1, Tiny-ImageNet, ResNeXt-50, 400 epochs, ManifoldMix with MCE: 67.30 (alpha 2, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='ManifoldMix', alpha=2.0))
