# The recipe of DeiT-S in Table 10: images enlarged to 224 px, gradients clipped at 5; RandAugment with FixMatch's
# operations, as released.
_base_ = 'cifar100_adamw.py'

train_dataloader = dict(
    dataset=dict(
        transforms=[
            dict(
                type='BatchEach',
                transforms=[dict(type='RandomResizedCrop', size=224, scale=(0.8, 1.0), interpolation='bicubic')],
            ),
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
    num_workers=8,
)
val_dataloader = dict(dataset=dict(transforms=[dict(type='BatchResize', size=224)]), batch_size=100, num_workers=2)
optim_wrapper = dict(clip_grad=dict(max_norm=5.0))
model = dict(backbone=dict(drop_path_rate=0.1))
