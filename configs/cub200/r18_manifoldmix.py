# Table 5, CUB-200-2011, ResNet-18, 200 epochs, ManifoldMix with MCE: 79.76 (alpha 0.5, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='ManifoldMix', alpha=0.5))
