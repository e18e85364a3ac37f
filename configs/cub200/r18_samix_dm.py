# Table A6, CUB-200-2011, ResNet-18, 200 epochs, SAMix with DM(CE): 81.27 (eta 1, alpha 2).
_base_ = 'r18_samix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
