# Table A2, Tiny-ImageNet, ResNeXt-50, 400 epochs, SAMix with DM(CE): 72.39 (eta 1, alpha 2).
_base_ = 'rx50_samix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
