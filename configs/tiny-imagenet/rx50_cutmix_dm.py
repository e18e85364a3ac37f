# Table 1, Tiny-ImageNet, ResNeXt-50, 400 epochs, CutMix with DM(CE): 67.46 (eta 0.1, alpha 0.2).
_base_ = 'rx50_cutmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
