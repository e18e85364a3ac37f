# Semi-supervised transfer of ImageNet weights: SGD, 27,000 steps, as printed.
# Not printed, as Self-Tuning has it: batch 24, Nesterov, ten times the rate for the classifier, a tenth every 6,000.
# A part without data: a recipe names it beside a data set.
global_batch_size = 24
optim_wrapper = dict(
    type='MixOptimWrapper',
    optimizer=dict(type='SGD', lr=1e-3, momentum=0.9, nesterov=True, weight_decay=5e-4),
    paramwise_cfg=dict(custom_keys={'head.': dict(lr_mult=10)}),
)
param_scheduler = dict(
    type='MultiStepLR', milestones=[6_000, 12_000, 18_000, 24_000], gamma=0.1, by_epoch=False, end=27_000
)
