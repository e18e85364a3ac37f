# Table 7: CIFAR-10, WRN-28-2, 4000 labels, FixMatch+DM: 95.87
_base_ = 'wrn28-2_fixmatch_dm_250.py'

train_dataloader = dict(dataset=dict(count=4000))
