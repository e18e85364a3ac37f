# Table 7: CIFAR-10, WRN-28-2, 4000 labels, MixMatch: 93.34
_base_ = 'wrn28-2_mixmatch_250.py'

train_dataloader = dict(dataset=dict(count=4000))
