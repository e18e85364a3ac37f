# The recipe of ConvNeXt-T in Table 10: images of 32 px, nothing clipped, stochastic depth 0.3.
_base_ = 'cifar100_adamw.py'

train_dataloader = dict(
    dataset=dict(
        transforms=[
            dict(
                type='BatchEach',
                transforms=[dict(type='RandomResizedCrop', size=32, scale=(0.8, 1.0), interpolation='bicubic')],
            ),
            dict(type='BatchRandomFlip'),
            dict(type='BatchRandAugment', policy='rand-m7-n2-mstd0.5', interpolation='bicubic'),
        ]
    ),
    num_workers=4,
)
model = dict(backbone=dict(drop_path_rate=0.3))
