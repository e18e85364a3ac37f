# Table A2, CIFAR-100, ResNet-18, 800 epochs, PuzzleMix with DM(CE): 81.34 (eta 1, alpha 2).
_base_ = 'r18_puzzlemix.py'

model = dict(mixer=dict(alpha=2.0), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
