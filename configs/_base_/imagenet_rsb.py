# The RSB A3 recipe as Table A1 prints it: LAMB, batch 2048, 100 epochs, 5 of warm-up, cosine.
# Not printed, as released: no decay on norms and biases; the first and the last learning rate; bicubic.
_base_ = 'imagenet.py'

global_batch_size = 2048
train_dataloader = dict(
    dataset=dict(
        transforms=[
            dict(type='RandomResizedCrop', size=224, interpolation='bicubic'),
            dict(type='RandomFlip'),
            dict(type='RandAugment', policy='rand-m6-mstd0.5-inc1', interpolation='bicubic'),
        ],
    ),
    repeats=3,
)
val_dataloader = dict(
    dataset=dict(
        transforms=[
            dict(type='ResizeShortEdge', size=236, interpolation='bicubic'),
            dict(type='CenterCrop', size=224),
        ]
    )
)
optim_wrapper = dict(
    type='MixOptimWrapper',
    optimizer=dict(type='Lamb', lr=8e-3, weight_decay=0.02),
    paramwise_cfg=dict(norm_decay_mult=0, bias_decay_mult=0),
)
param_scheduler = [
    dict(type='LinearLR', start_factor=1e-3, by_epoch=True, end=5, convert_to_iter_based=True),
    dict(type='CosineAnnealingLR', eta_min=1e-6, by_epoch=True, begin=5, convert_to_iter_based=True),
]
train_cfg = dict(max_epochs=100)
model = dict(backbone=dict(drop_path_rate=0.05))
