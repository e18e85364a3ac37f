# Figure A2, ImageNet-1k, ResNet-34, RSB A3, 100 epochs, ManifoldMix with DM(BCE), not printed (t 0.5, xi 1, alpha 0.2).
_base_ = 'r50-rsb_manifoldmix_dmbce.py'

model = dict(backbone=dict(name='resnet34'))
