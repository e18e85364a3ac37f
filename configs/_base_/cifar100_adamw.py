# What DeiT-S and ConvNeXt-T share in Table 10: AdamW, batch 100, 20 epochs of warm-up, cosine, label smoothing 0.1.
# The paper prints no more than the epochs; the rest is as released. The mix block of AutoMix and SAMix ends at 1e-4.
_base_ = 'cifar100.py'

global_batch_size = 100
optim_wrapper = dict(
    type='MixOptimWrapper',
    optimizer=dict(type='AdamW', lr=1e-3, betas=(0.9, 0.999), weight_decay=0.05),
    paramwise_cfg=dict(
        norm_decay_mult=0,
        bias_decay_mult=0,
        flat_decay_mult=0,
        custom_keys=dict(cls_token=dict(decay_mult=0), pos_embed=dict(decay_mult=0)),
    ),
)
param_scheduler = [
    dict(type='LinearLR', start_factor=1e-3, by_epoch=True, end=20, convert_to_iter_based=True),
    dict(type='MixCosineLR', eta_min=1e-6, mixer_eta_min=1e-4, by_epoch=True, begin=20, convert_to_iter_based=True),
]
train_cfg = dict(max_epochs=200)
model = dict(head=dict(init='trunc_normal', loss=dict(type='MixedCE', label_smoothing=0.1)))
