# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, FMix with MBCE(one): 77.76.
_base_ = 'r50-rsb_fmix.py'

model = dict(head=dict(loss=dict(type='MixedBCE')))
