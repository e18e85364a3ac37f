# CIFAR-10: 50,000 training and 10,000 test images of 32 px, by default in $OPENMIX_DM_DATA/cifar10.
_base_ = 'runtime.py'

train_dataloader = dict(
    dataset=dict(
        type='CIFAR10',
        root='cifar10',
        split='train',
        transforms=[dict(type='BatchRandomCrop', padding=4, mode='reflect'), dict(type='BatchRandomFlip')],
    ),
    num_workers=2,
)
val_dataloader = dict(dataset=dict(type='CIFAR10', root='cifar10', split='test'), batch_size=500)
model = dict(
    data_preprocessor=dict(type='Normalise', mean=[125.3, 123.0, 113.9], std=[63.0, 62.1, 66.7]),
    head=dict(num_classes=10),
)
