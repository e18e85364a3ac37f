# The DeiT recipe of Table A1: AdamW, batch 1024, 300 epochs, 5 of warm-up, cosine.
# Not printed, as DeiT has it: no decay on norms, biases and tokens; the first and the last learning rate; bicubic.
# As released: the mix block of AutoMix and SAMix ends at a learning rate of 1e-4.
_base_ = 'imagenet.py'

global_batch_size = 1024
train_dataloader = dict(
    dataset=dict(
        transforms=[
            dict(type='RandomResizedCrop', size=224, interpolation='bicubic'),
            dict(type='RandomFlip'),
            dict(type='RandAugment', policy='rand-m9-mstd0.5-inc1', interpolation='bicubic'),
        ],
    ),
    repeats=3,
)
val_dataloader = dict(
    dataset=dict(
        transforms=[
            dict(type='ResizeShortEdge', size=256, interpolation='bicubic'),
            dict(type='CenterCrop', size=224),
        ]
    )
)
optim_wrapper = dict(
    type='MixOptimWrapper',
    optimizer=dict(type='AdamW', lr=1e-3, betas=(0.9, 0.999), weight_decay=0.05),
    paramwise_cfg=dict(
        norm_decay_mult=0,
        bias_decay_mult=0,
        flat_decay_mult=0,
        custom_keys=dict(
            cls_token=dict(decay_mult=0), pos_embed=dict(decay_mult=0), relative_position_bias_table=dict(decay_mult=0)
        ),
    ),
    clip_grad=dict(max_norm=1.0),
)
param_scheduler = [
    dict(type='LinearLR', start_factor=1e-3, by_epoch=True, end=5, convert_to_iter_based=True),
    dict(type='MixCosineLR', eta_min=1e-5, mixer_eta_min=1e-4, by_epoch=True, begin=5, convert_to_iter_based=True),
]
train_cfg = dict(max_epochs=300)
default_hooks = dict(ema=dict(type='EmaHook', decay=0.99996))
model = dict(
    data_preprocessor=dict(erasing=dict(prob=0.25)),
    backbone=dict(drop_path_rate=0.1),
    head=dict(init='trunc_normal', loss=dict(type='MixedCE', label_smoothing=0.1)),
)
