# Table 1, Tiny-ImageNet, ResNeXt-50, 400 epochs, FMix with DM(CE): 66.96 (eta 0.1, alpha 0.2).
_base_ = 'rx50_fmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
