# Table A4, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, SAMix with DM(CE): 78.45 (eta 1, alpha 2).
_base_ = 'r50-rsb_samix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
