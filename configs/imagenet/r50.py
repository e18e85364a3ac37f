# ResNet-50 on ImageNet-1k, PyTorch-style recipe; the leaves choose mixer and loss.
_base_ = '../_base_/imagenet_pytorch.py'

model = dict(
    type='MixClassifier',
    backbone=dict(type='TimmBackbone', name='resnet50'),
    mixer=dict(type='NoMix'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
)
optim_wrapper = dict(paramwise_cfg=dict(custom_keys=dict(mixer=dict(momentum=0.0))))  # the mix block, as released
