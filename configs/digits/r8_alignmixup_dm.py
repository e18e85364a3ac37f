# Digits, ResNet-8, AlignMixup with DM(CE): eta 0.1 and alpha 0.2, as the paper sets them for static mixers.
_base_ = 'r8_alignmixup.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
