# Digits, ResNet-8, PuzzleMix with DM(CE): eta 1 and alpha 2, as the paper sets them for dynamic mixers.
_base_ = 'r8.py'

model = dict(mixer=dict(type='PuzzleMix', alpha=2.0), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
