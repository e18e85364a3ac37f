# Table A7, CIFAR-100, ResNet-18, 400 epochs, PuzzleMix with DM(CE): 80.58, FGSM error 79.53.
_base_ = 'r18_puzzlemix_dm.py'

train_cfg = dict(max_epochs=400)
