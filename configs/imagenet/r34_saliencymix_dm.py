# Table A3, ImageNet-1k, ResNet-34, 100 epochs, SaliencyMix with DM(CE): 73.92 (eta 0.1, alpha 0.2).
_base_ = 'r34_saliencymix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
