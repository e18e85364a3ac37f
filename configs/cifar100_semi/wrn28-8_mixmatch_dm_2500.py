# Table 7: CIFAR-100, WRN-28-8, 2500 labels, MixMatch+DM: 62.51
_base_ = 'wrn28-8_mixmatch_dm_400.py'

train_dataloader = dict(dataset=dict(count=2500))
