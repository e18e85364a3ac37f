# ResNeXt-50 with ImageNet weights on CUB-200-2011, fine-grained recipe; the leaves choose mixer and loss.
_base_ = '../_base_/cub200_finetune.py'

model = dict(
    type='MixClassifier',
    backbone=dict(type='TimmBackbone', name='resnext50_32x4d.tv_in1k', pretrained='timm'),
    mixer=dict(type='NoMix'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
)
