# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, CutMix with MBCE(one): 77.62.
_base_ = 'r50-rsb_cutmix.py'

model = dict(head=dict(loss=dict(type='MixedBCE')))
