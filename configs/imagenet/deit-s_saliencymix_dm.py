# Table A5, ImageNet-1k, DeiT-S, DeiT recipe, 300 epochs, SaliencyMix with DM(CE): 79.86 (eta 0.1, alpha 0.2).
_base_ = 'deit-s_saliencymix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
