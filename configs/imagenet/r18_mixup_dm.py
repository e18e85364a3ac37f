# Table 2, ImageNet-1k, ResNet-18, 100 epochs, Mixup with DM(CE): 70.20 (eta 0.1, alpha 0.2).
_base_ = 'r18_mixup.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
