# The digits with 40 labels, 4 of each class: weak views are small shifts, strong ones also turn, scale, change contrast
# and cover a square. No flips. Everything else follows the recipe of FixMatch with fewer steps.
_base_ = 'runtime.py'

_weak = [dict(type='BatchRandomCrop', padding=1, mode='constant')]
_strong = [
    dict(type='BatchRandomAffine', degrees=20.0, shift=0.15, scale=(0.85, 1.15)),
    dict(type='BatchRandomContrast', contrast=(0.5, 1.5), brightness=(0.7, 1.3)),
    dict(type='BatchCutout', size=0.5),
]
global_batch_size = 20
train_dataloader = dict(
    dataset=dict(
        type='Streams',
        dataset=dict(type='Digits', split='train', size=8),
        count=40,
        labelled_views=[_weak],
        unlabelled_views=[_weak, _strong],
        ratio=3,
    ),
)
val_dataloader = dict(dataset=dict(type='Digits', split='test', size=8), batch_size=360)
model = dict(
    data_preprocessor=dict(type='Normalise', mean=[78.0] * 3, std=[81.4] * 3),
    head=dict(num_classes=10),
)
optim_wrapper = dict(
    type='MixOptimWrapper',
    optimizer=dict(type='SGD', lr=0.03, momentum=0.9, nesterov=True, weight_decay=5e-4),
    paramwise_cfg=dict(norm_decay_mult=0.0, bias_decay_mult=0.0),
)
param_scheduler = dict(type='CosineTailLR')
train_cfg = dict(_delete_=True, type='IterTrainLoop', max_iters=400, val_interval=40)
default_hooks = dict(ema=dict(type='EmaHook', decay=0.98))
