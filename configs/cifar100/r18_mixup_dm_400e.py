# Table A7, CIFAR-100, ResNet-18, 400 epochs, Mixup with DM(CE): 79.70, FGSM error 70.05.
_base_ = 'r18_mixup_dm.py'

train_cfg = dict(max_epochs=400)
