# Table A3, ImageNet-1k, ResNet-18, 100 epochs, SAMix with DM(CE): 70.90 (eta 1, alpha 2).
_base_ = 'r18_samix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
