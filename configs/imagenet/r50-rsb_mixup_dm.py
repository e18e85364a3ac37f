# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, Mixup with DM(CE): 76.69 (eta 0.1, alpha 0.2).
_base_ = 'r50-rsb_mixup.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
