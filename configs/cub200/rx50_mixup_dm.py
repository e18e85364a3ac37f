# Table 5, CUB-200-2011, ResNeXt-50, 200 epochs, Mixup with DM(CE): 85.04 (eta 0.1, alpha 0.2).
_base_ = 'rx50_mixup.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
