# Table A6, CUB-200-2011, ResNet-18, 200 epochs, SaliencyMix with DM(CE): 78.28 (eta 1, alpha 0.2).
_base_ = 'r18_saliencymix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
