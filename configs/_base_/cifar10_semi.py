# CIFAR-10 with a few labels: weak views are shifted and mirrored; strong ones go through FixMatch's RandAugment before.
_base_ = ['cifar10.py', 'semi.py']

_weak = [dict(type='BatchRandomFlip'), dict(type='BatchRandomCrop', padding=4, mode='reflect')]
_strong = [dict(type='BatchFixMatchRandAugment'), *_weak]
train_dataloader = dict(
    dataset=dict(
        _delete_=True,
        type='Streams',
        dataset=dict(type='CIFAR10', root='cifar10', split='train'),
        count=250,
        labelled_views=[_weak],
        unlabelled_views=[_weak, _strong],
        unlabelled='all',
        ratio=7,
    )
)
train_cfg = dict(_delete_=True, type='IterTrainLoop', max_iters=2**20, val_interval=5000)
default_hooks = dict(records=dict(interval=500), ema=dict(type='EmaHook', decay=0.999))
