# Table 7: CIFAR-10, WRN-28-2, 4000 labels, UDA: 95.71
_base_ = 'wrn28-2_uda_250.py'

train_dataloader = dict(dataset=dict(count=4000))
