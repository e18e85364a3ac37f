# Table A6, FGVC-Aircraft, ResNeXt-50, 200 epochs, SaliencyMix with DM(CE): 85.07 (eta 0.1, alpha 0.2).
_base_ = 'rx50_saliencymix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
