# Table A4, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, SAMix with DM(BCE): 78.75 (t 1, xi 0.8, alpha 2).
_base_ = 'r50-rsb_samix.py'

model = dict(head=dict(loss=dict(type='DecoupledBCE', t=1.0, xi=0.8)))
