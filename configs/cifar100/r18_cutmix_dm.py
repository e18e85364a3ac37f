# Table 1, CIFAR-100, ResNet-18, 800 epochs, CutMix with DM(CE): 79.39 (eta 0.1, alpha 0.2).
_base_ = 'r18_cutmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
