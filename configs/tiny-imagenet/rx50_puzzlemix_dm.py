# Tables 9 and A2, Tiny-ImageNet, ResNeXt-50, 400 epochs, PuzzleMix with DM(CE): 68.04 (eta 1, alpha 2).
_base_ = 'rx50_puzzlemix.py'

model = dict(mixer=dict(alpha=2.0), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
