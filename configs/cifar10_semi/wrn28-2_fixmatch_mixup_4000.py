# Table 7: CIFAR-10, WRN-28-2, 4000 labels, FixMatch+Mixup: 95.83
_base_ = 'wrn28-2_fixmatch_mixup_250.py'

train_dataloader = dict(dataset=dict(count=4000))
