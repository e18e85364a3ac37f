# Table A8, CIFAR-100, ResNet-18, 15 % of the images, 800 epochs, SaliencyMix with MCE: 42.95.
_base_ = 'r18_saliencymix.py'

train_dataloader = dict(sampler=dict(type='SubsetBatches', fraction=0.15))
