# Table 10, CIFAR-100, DeiT-S, 600 epochs, SAMix with MCE: 82.49, 21.3 GB, 58 h.
_base_ = 'deit-s_samix_200e.py'

train_cfg = dict(max_epochs=600)
