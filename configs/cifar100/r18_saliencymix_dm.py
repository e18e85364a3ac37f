# Table A2, CIFAR-100, ResNet-18, 800 epochs, SaliencyMix with DM(CE): 79.28 (eta 0.1, alpha 0.2).
_base_ = 'r18_saliencymix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
