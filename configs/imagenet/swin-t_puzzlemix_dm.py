# Table A5, ImageNet-1k, Swin-T, DeiT recipe, 300 epochs, PuzzleMix with DM(CE): 81.16 (eta 1, alpha 2).
_base_ = 'swin-t_puzzlemix.py'

model = dict(mixer=dict(alpha=2.0), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
