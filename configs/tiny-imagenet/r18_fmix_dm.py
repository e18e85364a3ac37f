# Table 1, Tiny-ImageNet, ResNet-18, 400 epochs, FMix with DM(CE): 65.34 (eta 1, alpha 0.2).
_base_ = 'r18_fmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
