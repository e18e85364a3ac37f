# Tables 9 and A2, CIFAR-100, WRN-28-8, 800 epochs, AutoMix with DM(CE): 85.38 (eta 1, alpha 2).
_base_ = 'wrn28-8_automix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
