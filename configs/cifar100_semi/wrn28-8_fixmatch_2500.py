# Table 7: CIFAR-100, WRN-28-8, 2500 labels, FixMatch: 71.97
_base_ = 'wrn28-8_fixmatch_400.py'

train_dataloader = dict(dataset=dict(count=2500))
