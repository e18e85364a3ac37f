# Table 7: CIFAR-10, WRN-28-2, 4000 labels, ReMixMatch: 95.16
_base_ = 'wrn28-2_remixmatch_250.py'

train_dataloader = dict(dataset=dict(count=4000))
