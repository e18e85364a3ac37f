# A few minutes on one core: the small-scale recipe of the paper (SGD, cosine, batch 100) for 2 epochs.
_base_ = 'cifar10.py'

global_batch_size = 100
optim_wrapper = dict(type='MixOptimWrapper', optimizer=dict(type='SGD', lr=0.1, momentum=0.9, weight_decay=1e-4))
param_scheduler = dict(type='CosineAnnealingLR', eta_min=0, by_epoch=True, convert_to_iter_based=True)
train_cfg = dict(max_epochs=2)
train_dataloader = dict(num_workers=0)
channels_last = True
