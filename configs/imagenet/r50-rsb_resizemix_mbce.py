# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, ResizeMix with MBCE(one): 77.85.
_base_ = 'r50-rsb_resizemix.py'

model = dict(head=dict(loss=dict(type='MixedBCE')))
