# Table 7: CIFAR-100, WRN-28-8, 2500 labels, MixMatch: 60.24
_base_ = 'wrn28-8_mixmatch_400.py'

train_dataloader = dict(dataset=dict(count=2500))
