# Table A8, CIFAR-100, ResNet-18, 15 % of the images, 800 epochs, Mixup with MCE: 42.23.
_base_ = 'r18_mixup.py'

train_dataloader = dict(sampler=dict(type='SubsetBatches', fraction=0.15))
