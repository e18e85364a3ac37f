# Table 1, CIFAR-100, WRN-28-8, 800 epochs, Mixup with DM(CE): 83.51 (eta 0.1, alpha 0.2).
_base_ = 'wrn28-8_mixup.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
