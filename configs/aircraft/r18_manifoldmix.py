# Table 5, FGVC-Aircraft, ResNet-18, 200 epochs, ManifoldMix with MCE: 80.68 (alpha 0.5, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='ManifoldMix', alpha=0.5))
