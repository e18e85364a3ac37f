# Table A6, CUB-200-2011, ResNet-18, 200 epochs, AutoMix with DM(CE): 81.08 (eta 1, alpha 2).
_base_ = 'r18_automix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
