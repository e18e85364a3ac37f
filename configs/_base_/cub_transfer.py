# Semi-supervised transfer to CUB-200-2011: a share of the training images has labels, the others come without.
# Views as Self-Tuning has them, for all methods alike; tests by ten crops.
# Pseudo-labels are taken whatever the confidence; making them moves no statistics of batch norm.
_base_ = ['cub200.py', 'transfer.py']

_view = [
    dict(type='Resize', size=256),
    dict(type='RandomResizedCrop', size=224),
    dict(type='RandomFlip'),
    dict(type='SelfTuningRandAugment', n=2, m=10),
]
train_dataloader = dict(
    dataset=dict(
        _delete_=True,
        type='Streams',
        dataset=dict(type='CUB200', root='cub200', split='train'),
        fraction=0.15,
        labelled_views=[_view],
        unlabelled_views=[_view],
        unlabelled='rest',
        study_view=[dict(type='Resize', size=256), dict(type='CenterCrop', size=224)],
    ),
)
val_dataloader = dict(
    dataset=dict(transforms=[dict(type='Resize', size=256), dict(type='TenCrop', size=224)]), batch_size=16
)
train_cfg = dict(_delete_=True, type='IterTrainLoop', max_iters=27_000, val_interval=3_000)
model = dict(
    type='SemiClassifier',
    head=dict(type='LinearHead', init='normal', loss=dict(type='MixedCE')),
    labeler=dict(type='Labeler', where='guess', threshold=dict(type='FixedThreshold', tau=0.0)),
    terms=dict(labelled=dict(type='Supervised')),
)
