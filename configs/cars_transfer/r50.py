# ResNet-50 with ImageNet weights of torchvision, for the transfer to Stanford Cars; the leaves choose the method.
_base_ = '../_base_/cars_transfer.py'

model = dict(backbone=dict(type='TimmBackbone', name='resnet50.tv_in1k', pretrained='timm'))
