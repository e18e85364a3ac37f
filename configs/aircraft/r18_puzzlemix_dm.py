# Table A6, FGVC-Aircraft, ResNet-18, 200 epochs, PuzzleMix with DM(CE): 80.89 (eta 1, alpha 2).
_base_ = 'r18_puzzlemix.py'

model = dict(mixer=dict(alpha=2.0), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
