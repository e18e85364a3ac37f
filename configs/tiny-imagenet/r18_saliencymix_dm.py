# Table A2, Tiny-ImageNet, ResNet-18, 400 epochs, SaliencyMix with DM(CE): 66.56 (eta 1, alpha 0.2).
_base_ = 'r18_saliencymix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
