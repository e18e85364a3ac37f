# Table 5, CUB-200-2011, ResNet-18, 200 epochs, Mixup with DM(CE): 79.90 (eta 1, alpha 0.2).
_base_ = 'r18_mixup.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
