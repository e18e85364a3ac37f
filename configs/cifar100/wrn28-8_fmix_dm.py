# Table 1, CIFAR-100, WRN-28-8, 800 epochs, FMix with DM(CE): 84.47 (eta 0.1, alpha 0.2).
_base_ = 'wrn28-8_fmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
