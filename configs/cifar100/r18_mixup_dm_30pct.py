# Table A8, CIFAR-100, ResNet-18, 30 % of the images, 800 epochs, Mixup with DM(CE): 56.78.
_base_ = 'r18_mixup_dm.py'

train_dataloader = dict(sampler=dict(type='SubsetBatches', fraction=0.3))
