# Table A4, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, SAMix with MBCE(two): 77.58.
_base_ = 'r50-rsb_samix.py'

model = dict(head=dict(loss=dict(type='MixedBCE', two_hot=True)))
