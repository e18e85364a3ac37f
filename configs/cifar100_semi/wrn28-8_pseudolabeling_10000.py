# Table 7: CIFAR-100, WRN-28-8, 10000 labels, Pseudo-Labeling: 63.45
_base_ = 'wrn28-8_pseudolabeling_400.py'

train_dataloader = dict(dataset=dict(count=10000))
