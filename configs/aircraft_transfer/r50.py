# ResNet-50 with ImageNet weights of torchvision, for the transfer to FGVC-Aircraft; the leaves choose the method.
_base_ = '../_base_/aircraft_transfer.py'

model = dict(backbone=dict(type='TimmBackbone', name='resnet50.tv_in1k', pretrained='timm'))
