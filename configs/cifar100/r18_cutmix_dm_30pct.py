# Table A8, CIFAR-100, ResNet-18, 30 % of the images, 800 epochs, CutMix with DM(CE): 57.14.
_base_ = 'r18_cutmix_dm.py'

train_dataloader = dict(sampler=dict(type='SubsetBatches', fraction=0.3))
