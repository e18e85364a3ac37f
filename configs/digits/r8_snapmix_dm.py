# Digits, ResNet-8, SnapMix with DM(CE): eta 0.1, as the paper sets it for static mixers; its boxes are drawn as theirs.
_base_ = 'r8_snapmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
