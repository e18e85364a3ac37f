# Table 5, FGVC-Aircraft, ResNeXt-50, 200 epochs, FMix with DM(CE): 85.04 (eta 0.1, alpha 0.2).
_base_ = 'rx50_fmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
