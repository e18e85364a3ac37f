# Table 1, CIFAR-100, ResNeXt-50, 800 epochs, Mixup with DM(CE): 82.96 (eta 0.1, alpha 0.2).
_base_ = 'rx50_mixup.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
