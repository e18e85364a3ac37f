# Table 7: CIFAR-100, WRN-28-8, 2500 labels, FlexMatch: 73.51
_base_ = 'wrn28-8_flexmatch_400.py'

train_dataloader = dict(dataset=dict(count=2500))
