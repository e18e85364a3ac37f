# Table A2, CIFAR-100, WRN-28-8, 800 epochs, SAMix with DM(CE): 85.59 (eta 1, alpha 2).
_base_ = 'wrn28-8_samix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
