# Table A4, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, SaliencyMix with DM(CE): 77.25 (eta 0.1, alpha 0.2).
_base_ = 'r50-rsb_saliencymix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
