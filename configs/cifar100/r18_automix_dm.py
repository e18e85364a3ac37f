# Table A2, CIFAR-100, ResNet-18, 800 epochs, AutoMix with DM(CE): 82.32 (eta 1, alpha 2).
_base_ = 'r18_automix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
