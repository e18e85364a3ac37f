# Table A4, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, AutoMix with MBCE(one): 78.33.
_base_ = 'r50-rsb_automix.py'

model = dict(head=dict(loss=dict(type='MixedBCE')))
