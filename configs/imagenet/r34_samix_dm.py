# Table A3, ImageNet-1k, ResNet-34, 100 epochs, SAMix with DM(CE): 75.10 (eta 1, alpha 2).
_base_ = 'r34_samix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
