# CIFAR-100: 50,000 training and 10,000 test images of 32 px, by default in $OPENMIX_DM_DATA/cifar100.
_base_ = 'runtime.py'

train_dataloader = dict(
    dataset=dict(
        type='CIFAR100',
        root='cifar100',
        split='train',
        transforms=[dict(type='BatchRandomCrop', padding=4, mode='reflect'), dict(type='BatchRandomFlip')],
    ),
    num_workers=2,
)
val_dataloader = dict(dataset=dict(type='CIFAR100', root='cifar100', split='test'), batch_size=500)
model = dict(
    data_preprocessor=dict(type='Normalise', mean=[129.3, 124.1, 112.4], std=[68.2, 65.4, 70.4]),
    head=dict(num_classes=100),
)
