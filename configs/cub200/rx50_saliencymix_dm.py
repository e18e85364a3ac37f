# Table A6, CUB-200-2011, ResNeXt-50, 200 epochs, SaliencyMix with DM(CE): 84.51 (eta 0.1, alpha 0.2).
_base_ = 'rx50_saliencymix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
