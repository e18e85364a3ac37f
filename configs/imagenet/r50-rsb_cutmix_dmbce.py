# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, CutMix with DM(BCE): 78.21 (t 1, xi 0.8, alpha 0.2).
_base_ = 'r50-rsb_cutmix.py'

model = dict(head=dict(loss=dict(type='DecoupledBCE', t=1.0, xi=0.8)))
