# Table 1, CIFAR-100, ResNeXt-50, 800 epochs, FMix with DM(CE): 82.74 (eta 0.1, alpha 0.2).
_base_ = 'rx50_fmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
