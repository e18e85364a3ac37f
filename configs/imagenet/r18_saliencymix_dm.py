# Table A3, ImageNet-1k, ResNet-18, 100 epochs, SaliencyMix with DM(CE): 69.57 (eta 0.1, alpha 0.2).
_base_ = 'r18_saliencymix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
