# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, Mixup with MBCE(two): 77.42.
_base_ = 'r50-rsb_mixup.py'

model = dict(head=dict(loss=dict(type='MixedBCE', two_hot=True)))
