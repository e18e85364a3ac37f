# Table 7: CIFAR-100, WRN-28-8, 10000 labels, FixMatch+DM: 79.58
_base_ = 'wrn28-8_fixmatch_dm_400.py'

train_dataloader = dict(dataset=dict(count=10000))
