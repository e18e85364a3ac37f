# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, ManifoldMix with DM(BCE): 78.20 (t 0.5, xi 1, alpha 0.2).
_base_ = 'r50-rsb_manifoldmix.py'

model = dict(head=dict(loss=dict(type='DecoupledBCE', t=0.5, xi=1.0)))
