# Table 5, CUB-200-2011, ResNeXt-50, 200 epochs, CutMix with DM(CE): 85.97 (eta 0.1, alpha 0.2).
_base_ = 'rx50_cutmix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
