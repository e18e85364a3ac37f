# ResNet-34 on ImageNet-1k, PyTorch-style recipe; the leaves choose mixer and loss.
_base_ = '../_base_/imagenet_pytorch.py'

model = dict(
    type='MixClassifier',
    backbone=dict(type='TimmBackbone', name='resnet34'),
    mixer=dict(type='NoMix'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
)
