# Table 7: CIFAR-10, WRN-28-2, 4000 labels, Pseudo-Labeling: 84.92
_base_ = 'wrn28-2_pseudolabeling_250.py'

train_dataloader = dict(dataset=dict(count=4000))
