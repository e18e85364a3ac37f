# Table 7: CIFAR-100, WRN-28-8, 10000 labels, FixMatch+Mixup: 78.75
_base_ = 'wrn28-8_fixmatch_mixup_400.py'

train_dataloader = dict(dataset=dict(count=10000))
