# Table A2, CIFAR-100, ResNeXt-50, 800 epochs, SaliencyMix with DM(CE): 82.61 (eta 0.1, alpha 0.2).
_base_ = 'rx50_saliencymix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
