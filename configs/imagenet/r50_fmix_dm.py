# Table 2, ImageNet-1k, ResNet-50, 100 epochs, FMix with DM(CE): 77.38 (eta 0.1, alpha 0.2).
_base_ = 'r50_fmix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
