# Table A2, CIFAR-100, ResNeXt-50, 800 epochs, AutoMix with DM(CE): 83.94 (eta 1, alpha 2).
_base_ = 'rx50_automix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
