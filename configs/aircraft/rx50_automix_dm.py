# Table A6, FGVC-Aircraft, ResNeXt-50, 200 epochs, AutoMix with DM(CE): 86.82 (eta 1, alpha 2).
_base_ = 'rx50_automix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
