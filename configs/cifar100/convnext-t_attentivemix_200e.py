# Table 10, CIFAR-100, ConvNeXt-T, 200 epochs, AttentiveMix+ with MCE: 82.59 (alpha 2, as released).
_base_ = 'convnext-t.py'

model = dict(
    mixer=dict(
        type='AttentiveMix', alpha=2.0, teacher=dict(type='TimmBackbone', name='resnet50.tv_in1k', pretrained='timm')
    )
)
