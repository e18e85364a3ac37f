# Table A6, FGVC-Aircraft, ResNeXt-50, 200 epochs, SAMix with DM(CE): 87.22 (eta 1, alpha 2).
_base_ = 'rx50_samix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
