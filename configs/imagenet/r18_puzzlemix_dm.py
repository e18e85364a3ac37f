# Table A3, ImageNet-1k, ResNet-18, 100 epochs, PuzzleMix with DM(CE): 70.32 (eta 1, alpha 2).
_base_ = 'r18_puzzlemix.py'

model = dict(mixer=dict(alpha=2.0), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
