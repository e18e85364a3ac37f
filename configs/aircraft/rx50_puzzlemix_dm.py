# Table A6, FGVC-Aircraft, ResNeXt-50, 200 epochs, PuzzleMix with DM(CE): 86.36 (eta 1, alpha 2).
_base_ = 'rx50_puzzlemix.py'

model = dict(mixer=dict(alpha=2.0), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
