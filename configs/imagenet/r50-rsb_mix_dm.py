# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, Mixup or CutMix with DM(CE): 77.72 (eta 0.1).
_base_ = 'r50-rsb_mix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
