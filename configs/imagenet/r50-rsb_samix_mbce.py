# Table A4, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, SAMix with MBCE(one): 78.64.
_base_ = 'r50-rsb_samix.py'

model = dict(head=dict(loss=dict(type='MixedBCE')))
