# Table A5, ImageNet-1k, Swin-T, DeiT recipe, 300 epochs, SaliencyMix with DM(CE): 80.83 (eta 0.1, alpha 0.2).
_base_ = 'swin-t_saliencymix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
