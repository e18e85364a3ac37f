# Table 2, ImageNet-1k, ResNet-34, 100 epochs, Mixup with DM(CE): 74.26 (eta 0.1, alpha 0.2).
_base_ = 'r34_mixup.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
