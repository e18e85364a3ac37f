# Table A4, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, SaliencyMix with MBCE(one): 77.93.
_base_ = 'r50-rsb_saliencymix.py'

model = dict(head=dict(loss=dict(type='MixedBCE')))
