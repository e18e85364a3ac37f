# CUB-200-2011: 5,994 training and 5,794 test images of birds, by default in $OPENMIX_DM_DATA/cub200.
# Crops as released; mean and deviation are those of ImageNet, because the networks come with its weights.
_base_ = 'runtime.py'

train_dataloader = dict(
    dataset=dict(
        type='CUB200',
        root='cub200',
        split='train',
        transforms=[
            dict(type='ResizeShortEdge', size=256),
            dict(type='RandomResizedCrop', size=224, scale=(0.5, 1.0)),
            dict(type='RandomFlip'),
        ],
    ),
    num_workers=4,
)
val_dataloader = dict(
    dataset=dict(
        type='CUB200',
        root='cub200',
        split='test',
        transforms=[dict(type='ResizeShortEdge', size=256), dict(type='CenterCrop', size=224)],
    ),
    batch_size=64,
    num_workers=4,
)
model = dict(
    data_preprocessor=dict(type='Normalise', mean=[123.675, 116.28, 103.53], std=[58.395, 57.12, 57.375]),
    head=dict(num_classes=200),
)
