# Table A5, ImageNet-1k, DeiT-S, DeiT recipe, 300 epochs, PuzzleMix with DM(CE): 80.25 (eta 1, alpha 2).
_base_ = 'deit-s_puzzlemix.py'

model = dict(mixer=dict(alpha=2.0), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
