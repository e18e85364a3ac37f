# Table 7: CIFAR-10, WRN-28-2, 4000 labels, MixMatch+DM: 95.15
_base_ = 'wrn28-2_mixmatch_dm_250.py'

train_dataloader = dict(dataset=dict(count=4000))
