# Table 5, CUB-200-2011, ResNet-18, 200 epochs, FMix with DM(CE): 80.10 (eta 1, alpha 0.2).
_base_ = 'r18_fmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
