# RSB A3 as its authors published it: trained at 160 px, without repeated augmentation and stochastic depth.
_base_ = 'imagenet_rsb.py'

train_dataloader = dict(
    dataset=dict(
        transforms=[
            dict(type='RandomResizedCrop', size=160, interpolation='bicubic'),
            dict(type='RandomFlip'),
            dict(type='RandAugment', policy='rand-m6-mstd0.5-inc1', interpolation='bicubic'),
        ],
    ),
    repeats=1,
)
model = dict(backbone=dict(drop_path_rate=0.0))
