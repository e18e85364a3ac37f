# ResNet-50 with ImageNet weights of torchvision, for the transfer to CUB-200-2011; the leaves choose the method.
_base_ = '../_base_/cub_transfer.py'

model = dict(backbone=dict(type='TimmBackbone', name='resnet50.tv_in1k', pretrained='timm'))
