# Table A2, CIFAR-100, ResNeXt-50, 800 epochs, SAMix with DM(CE): 84.53 (eta 1, alpha 2).
_base_ = 'rx50_samix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
