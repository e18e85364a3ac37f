# The recipe of ConvNeXt-T in Table 10: images of 32 px, nothing clipped, stochastic depth 0.3.
# Crops as the paper has them for CIFAR-100, RandAugment as released: FixMatch's operations.
_base_ = 'cifar100_adamw.py'

train_dataloader = dict(
    dataset=dict(
        transforms=[
            dict(type='BatchRandomCrop', padding=4, mode='reflect'),
            dict(type='BatchRandomFlip'),
            dict(
                type='BatchRandAugment',
                policy='rand-m7-n2-mstd0.5',
                operations='fixmatch',
                interpolation='bicubic',
                fill=(125, 123, 114),
            ),
        ]
    ),
    num_workers=4,
)
model = dict(backbone=dict(drop_path_rate=0.3))
