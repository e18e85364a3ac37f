# Table 1, CIFAR-100, ResNeXt-50, 800 epochs, CutMix with DM(CE): 82.39 (eta 0.1, alpha 0.2).
_base_ = 'rx50_cutmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
