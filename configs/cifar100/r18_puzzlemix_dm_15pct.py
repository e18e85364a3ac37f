# Table A8, CIFAR-100, ResNet-18, 15 % of the images, 800 epochs, PuzzleMix with DM(CE): 43.87.
_base_ = 'r18_puzzlemix_dm.py'

train_dataloader = dict(sampler=dict(type='SubsetBatches', fraction=0.15))
