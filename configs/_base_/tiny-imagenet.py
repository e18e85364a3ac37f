# Tiny-ImageNet: 100,000 training and 10,000 validation images of 64 px, by default in $OPENMIX_DM_DATA/tiny-imagenet.
_base_ = 'runtime.py'

train_dataloader = dict(
    dataset=dict(
        type='TinyImageNet',
        root='tiny-imagenet',
        split='train',
        transforms=[dict(type='BatchRandomCrop', padding=4, mode='reflect'), dict(type='BatchRandomFlip')],
    ),
    num_workers=2,
)
val_dataloader = dict(dataset=dict(type='TinyImageNet', root='tiny-imagenet', split='val'), batch_size=500)
model = dict(
    data_preprocessor=dict(type='Normalise', mean=[122.5, 114.3, 101.4], std=[70.6, 68.6, 71.9]),
    head=dict(num_classes=200),
)
