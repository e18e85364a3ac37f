# Table 7: CIFAR-100, WRN-28-8, 2500 labels, UDA: 72.27
_base_ = 'wrn28-8_uda_400.py'

train_dataloader = dict(dataset=dict(count=2500))
