# Table 10, CIFAR-100, DeiT-S, 600 epochs, no mixing: 68.50, 8.1 GB, 27 h.
_base_ = 'deit-s_vanilla_200e.py'

train_cfg = dict(max_epochs=600)
