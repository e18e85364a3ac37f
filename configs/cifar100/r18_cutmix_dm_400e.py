# Table A7, CIFAR-100, ResNet-18, 400 epochs, CutMix with DM(CE): 79.77, FGSM error 86.84.
_base_ = 'r18_cutmix_dm.py'

train_cfg = dict(max_epochs=400)
