# Table A8, CIFAR-100, ResNet-18, 30 % of the images, 800 epochs, no mixing: 56.41.
_base_ = 'r18.py'

train_dataloader = dict(sampler=dict(type='SubsetBatches', fraction=0.3))
