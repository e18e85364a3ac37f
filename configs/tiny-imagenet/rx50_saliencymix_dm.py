# Table A2, Tiny-ImageNet, ResNeXt-50, 400 epochs, SaliencyMix with DM(CE): 67.52 (eta 0.1, alpha 0.2).
_base_ = 'rx50_saliencymix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
