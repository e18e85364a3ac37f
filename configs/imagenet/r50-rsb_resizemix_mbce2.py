# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, ResizeMix with MBCE(two): 77.30.
_base_ = 'r50-rsb_resizemix.py'

model = dict(head=dict(loss=dict(type='MixedBCE', two_hot=True)))
