# Table A7, CIFAR-100, ResNet-18, 400 epochs, AutoMix with DM(CE): 81.96, FGSM error 69.80.
_base_ = 'r18_automix_dm.py'

train_cfg = dict(max_epochs=400)
