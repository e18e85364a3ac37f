# The small-scale recipe as released for WRN-28-8 on CIFAR-100: 400 epochs, a smaller rate, more weight decay.
_base_ = 'cifar100_sgd.py'

optim_wrapper = dict(optimizer=dict(lr=0.03, weight_decay=1e-3))
train_cfg = dict(max_epochs=400)
