# Table 7: CIFAR-100, WRN-28-8, 10000 labels, UDA: 77.51
_base_ = 'wrn28-8_uda_400.py'

train_dataloader = dict(dataset=dict(count=10000))
