# Table A3, ImageNet-1k, ResNet-50, 100 epochs, SaliencyMix with DM(CE): 77.42 (eta 0.1, alpha 0.2).
_base_ = 'r50_saliencymix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
