# Digits, ResNet-8, SnapMix with MCE: alpha and prob as its authors train from scratch.
_base_ = 'r8.py'

model = dict(mixer=dict(type='SnapMix', alpha=1.0, prob=0.5))
