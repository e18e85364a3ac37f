# Table A2, Tiny-ImageNet, ResNet-18, 400 epochs, SAMix with DM(CE): 69.16 (eta 1, alpha 2).
_base_ = 'r18_samix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
