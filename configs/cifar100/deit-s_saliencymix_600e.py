# Table 10, CIFAR-100, DeiT-S, 600 epochs, SaliencyMix with MCE: 76.60, 8.2 GB, 27 h.
_base_ = 'deit-s_saliencymix_200e.py'

train_cfg = dict(max_epochs=600)
