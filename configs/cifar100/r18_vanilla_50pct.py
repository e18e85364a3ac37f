# Table A8, CIFAR-100, ResNet-18, 50 % of the images, 800 epochs, no mixing: 64.32.
_base_ = 'r18.py'

train_dataloader = dict(sampler=dict(type='SubsetBatches', fraction=0.5))
