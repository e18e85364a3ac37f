# Tables 9 and A2, CIFAR-100, WRN-28-8, 800 epochs, PuzzleMix with DM(CE): 85.25 (eta 1, alpha 2).
_base_ = 'wrn28-8_puzzlemix.py'

model = dict(mixer=dict(alpha=2.0), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
