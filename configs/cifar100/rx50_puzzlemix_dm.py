# Table A2, CIFAR-100, ResNeXt-50, 800 epochs, PuzzleMix with DM(CE): 82.97 (eta 1, alpha 2).
_base_ = 'rx50_puzzlemix.py'

model = dict(mixer=dict(alpha=2.0), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
