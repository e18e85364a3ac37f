# Table 10, CIFAR-100, DeiT-S, 200 epochs, AttentiveMix+ with MCE: 75.98 (alpha 2, as released).
_base_ = 'deit-s.py'

model = dict(
    mixer=dict(
        type='AttentiveMix', alpha=2.0, teacher=dict(type='TimmBackbone', name='resnet50.tv_in1k', pretrained='timm')
    )
)
