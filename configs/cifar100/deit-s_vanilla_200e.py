# Table 10, CIFAR-100, DeiT-S, 200 epochs, no mixing: 65.81.
_base_ = 'deit-s.py'
