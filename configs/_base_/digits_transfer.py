# From the digits 0 to 4, on which a network was trained before, to 5 to 9 with 20 labels, 4 of each class.
# Two augmented views of each image, as Self-Tuning has it; the recipe is that of the transfer tables with fewer steps.
#   python tools/train.py configs/digits_transfer/r8_source.py     makes the weights that the others start from
_base_ = ['runtime.py', 'transfer.py']

_view = [
    dict(type='BatchRandomAffine', degrees=15.0, shift=0.1, scale=(0.9, 1.1)),
    dict(type='BatchRandomContrast', contrast=(0.7, 1.3), brightness=(0.8, 1.2)),
]
_digits = (5, 6, 7, 8, 9)
train_dataloader = dict(
    dataset=dict(
        type='Streams',
        dataset=dict(type='Digits', split='train', digits=_digits),
        count=20,
        labelled_views=[_view, _view],
        unlabelled_views=[_view, _view],
        unlabelled='rest',
        study_view=[],
    ),
)
val_dataloader = dict(dataset=dict(type='Digits', split='test', digits=_digits), batch_size=180)
model = dict(
    data_preprocessor=dict(type='Normalise', mean=[78.0] * 3, std=[81.4] * 3),
    head=dict(num_classes=5),
)
global_batch_size = 20
param_scheduler = dict(milestones=[120, 240, 360, 480], end=540)
optim_wrapper = dict(optimizer=dict(lr=1e-2))
train_cfg = dict(_delete_=True, type='IterTrainLoop', max_iters=540, val_interval=60)
