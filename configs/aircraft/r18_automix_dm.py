# Table A6, FGVC-Aircraft, ResNet-18, 200 epochs, AutoMix with DM(CE): 82.18 (eta 1, alpha 2).
_base_ = 'r18_automix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
