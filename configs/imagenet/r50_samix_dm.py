# Table A3, ImageNet-1k, ResNet-50, 100 epochs, SAMix with DM(CE): 78.36 (eta 1, alpha 2).
_base_ = 'r50_samix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
