# Table A3, ImageNet-1k, ResNet-34, 100 epochs, PuzzleMix with DM(CE): 74.51 (eta 1, alpha 2).
_base_ = 'r34_puzzlemix.py'

model = dict(mixer=dict(alpha=2.0), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
