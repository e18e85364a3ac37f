# Fine-tuning of ImageNet weights: SGD, batch 16, cosine to 0. Not printed, as released: momentum and schedule, and the
# mix block of AutoMix and SAMix, with learning rates from 0.01 to 5e-4.
# A part without data: a recipe names it beside a data set.
global_batch_size = 16
optim_wrapper = dict(
    type='MixOptimWrapper',
    optimizer=dict(type='SGD', lr=1e-3, momentum=0.9, weight_decay=5e-4),
    paramwise_cfg=dict(custom_keys=dict(mixer=dict(lr_mult=10))),
)
param_scheduler = dict(type='MixCosineLR', eta_min=0, mixer_eta_min=5e-4, by_epoch=True, convert_to_iter_based=True)
