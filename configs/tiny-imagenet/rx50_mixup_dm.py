# Table 1, Tiny-ImageNet, ResNeXt-50, 400 epochs, Mixup with DM(CE): 67.70 (eta 0.1, alpha 0.2).
_base_ = 'rx50_mixup.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
