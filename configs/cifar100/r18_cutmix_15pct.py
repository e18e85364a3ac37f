# Table A8, CIFAR-100, ResNet-18, 15 % of the images, 800 epochs, CutMix with MCE: 43.81.
_base_ = 'r18_cutmix.py'

train_dataloader = dict(sampler=dict(type='SubsetBatches', fraction=0.15))
