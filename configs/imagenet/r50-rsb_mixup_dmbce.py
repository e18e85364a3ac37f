# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, Mixup with DM(BCE): 78.28 (t 0.5, xi 1, alpha 0.2).
_base_ = 'r50-rsb_mixup.py'

model = dict(head=dict(loss=dict(type='DecoupledBCE', t=0.5, xi=1.0)))
