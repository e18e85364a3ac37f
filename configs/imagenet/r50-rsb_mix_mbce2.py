# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, Mixup or CutMix with MBCE(two): 76.95.
_base_ = 'r50-rsb_mix.py'

model = dict(head=dict(loss=dict(type='MixedBCE', two_hot=True)))
