# Figure A2, ImageNet-1k, ResNet-34, RSB A3, 100 epochs, AutoMix with DM(BCE), not printed (t 1, xi 0.8, alpha 2).
_base_ = 'r50-rsb_automix_dmbce.py'

model = dict(backbone=dict(name='resnet34'))
