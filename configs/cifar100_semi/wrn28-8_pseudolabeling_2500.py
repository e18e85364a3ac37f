# Table 7: CIFAR-100, WRN-28-8, 2500 labels, Pseudo-Labeling: 42.26
_base_ = 'wrn28-8_pseudolabeling_400.py'

train_dataloader = dict(dataset=dict(count=2500))
