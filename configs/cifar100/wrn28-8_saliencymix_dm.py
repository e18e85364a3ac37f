# Table A2, CIFAR-100, WRN-28-8, 800 epochs, SaliencyMix with DM(CE): 84.41 (eta 0.1, alpha 0.2).
_base_ = 'wrn28-8_saliencymix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
