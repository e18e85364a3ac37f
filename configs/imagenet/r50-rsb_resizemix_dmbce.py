# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, ResizeMix with DM(BCE): 78.32 (t 1, xi 0.8, alpha 0.2).
_base_ = 'r50-rsb_resizemix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledBCE', t=1.0, xi=0.8)))
