# ImageNet-1k: 1,281,167 training and 50,000 validation images, by default in $OPENMIX_DM_DATA/imagenet.
# Crops and bicubic interpolation as released.
_base_ = 'runtime.py'

train_dataloader = dict(
    dataset=dict(
        type='ImageNet',
        root='imagenet',
        split='train',
        transforms=[dict(type='RandomResizedCrop', size=224, interpolation='bicubic'), dict(type='RandomFlip')],
    ),
    num_workers=8,
)
val_dataloader = dict(
    dataset=dict(
        type='ImageNet',
        root='imagenet',
        split='val',
        transforms=[
            dict(type='ResizeShortEdge', size=256, interpolation='bicubic'),
            dict(type='CenterCrop', size=224),
        ],
    ),
    batch_size=128,
    num_workers=8,
)
model = dict(
    data_preprocessor=dict(type='Normalise', mean=[123.675, 116.28, 103.53], std=[58.395, 57.12, 57.375]),
    head=dict(num_classes=1000),
)
