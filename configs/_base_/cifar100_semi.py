# CIFAR-100 with a few labels: as CIFAR-10, with the statistics of cifar100.py and twice the weight decay.
_base_ = 'cifar10_semi.py'

train_dataloader = dict(dataset=dict(dataset=dict(type='CIFAR100', root='cifar100'), count=400))
val_dataloader = dict(dataset=dict(type='CIFAR100', root='cifar100'))
model = dict(
    data_preprocessor=dict(mean=[129.3, 124.1, 112.4], std=[68.2, 65.4, 70.4]),
    head=dict(num_classes=100),
)
optim_wrapper = dict(optimizer=dict(weight_decay=1e-3))
