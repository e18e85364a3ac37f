# Table A6, CUB-200-2011, ResNet-18, 200 epochs, PuzzleMix with DM(CE): 78.74 (eta 1, alpha 2).
_base_ = 'r18_puzzlemix.py'

model = dict(mixer=dict(alpha=2.0), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
