# Table A4, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, PuzzleMix with DM(CE): 77.60 (eta 1, alpha 2).
_base_ = 'r50-rsb_puzzlemix.py'

model = dict(mixer=dict(alpha=2.0), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
