# Table 7: CIFAR-100, WRN-28-8, 2500 labels, ReMixMatch: 73.87
_base_ = 'wrn28-8_remixmatch_400.py'

train_dataloader = dict(dataset=dict(count=2500))
