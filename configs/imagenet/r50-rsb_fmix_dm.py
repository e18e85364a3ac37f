# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, FMix with DM(CE): 76.87 (eta 0.1, alpha 0.2).
_base_ = 'r50-rsb_fmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
