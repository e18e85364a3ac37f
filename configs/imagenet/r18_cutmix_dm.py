# Table 2, ImageNet-1k, ResNet-18, 100 epochs, CutMix with DM(CE): 69.26 (eta 0.1, alpha 0.2).
_base_ = 'r18_cutmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
