# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, ManifoldMix with MBCE(two): 67.78.
_base_ = 'r50-rsb_manifoldmix.py'

model = dict(head=dict(loss=dict(type='MixedBCE', two_hot=True)))
