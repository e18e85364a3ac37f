# A tenth of CIFAR-10 (5,000 images drawn once, all 10,000 test images) in minutes on a CPU: the small-scale recipe with
# 8 epochs, tested after the last one only.
_base_ = 'cifar10.py'

train_dataloader = dict(sampler=dict(type='SubsetBatches', fraction=0.1), num_workers=0)
global_batch_size = 100
optim_wrapper = dict(type='MixOptimWrapper', optimizer=dict(type='SGD', lr=0.1, momentum=0.9, weight_decay=1e-4))
param_scheduler = dict(type='CosineAnnealingLR', eta_min=0, by_epoch=True, convert_to_iter_based=True)
train_cfg = dict(max_epochs=8, val_interval=8)
