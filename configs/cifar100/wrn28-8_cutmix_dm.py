# Table 1, CIFAR-100, WRN-28-8, 800 epochs, CutMix with DM(CE): 84.88 (eta 0.1, alpha 0.2).
_base_ = 'wrn28-8_cutmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
