# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, Mixup with MBCE(one): 77.66.
_base_ = 'r50-rsb_mixup.py'

model = dict(head=dict(loss=dict(type='MixedBCE')))
