# Table A6, CUB-200-2011, ResNeXt-50, 200 epochs, AutoMix with DM(CE): 86.74 (eta 1, alpha 2).
_base_ = 'rx50_automix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
