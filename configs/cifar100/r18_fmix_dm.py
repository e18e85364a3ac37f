# Table 1, CIFAR-100, ResNet-18, 800 epochs, FMix with DM(CE): 80.12 (eta 0.1, alpha 0.2).
_base_ = 'r18_fmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
