# Table 2, ImageNet-1k, ResNet-18, 100 epochs, FMix with DM(CE): 70.26 (eta 0.1, alpha 0.2).
_base_ = 'r18_fmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
