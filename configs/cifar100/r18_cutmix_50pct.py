# Table A8, CIFAR-100, ResNet-18, 50 % of the images, 800 epochs, CutMix with MCE: 64.38.
_base_ = 'r18_cutmix.py'

train_dataloader = dict(sampler=dict(type='SubsetBatches', fraction=0.5))
