# ResNet-18 with ImageNet weights on FGVC-Aircraft, fine-grained recipe; the leaves choose mixer and loss.
_base_ = '../_base_/aircraft_finetune.py'

model = dict(
    type='MixClassifier',
    backbone=dict(type='TimmBackbone', name='resnet18.tv_in1k', pretrained='timm'),
    mixer=dict(type='NoMix'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
)
