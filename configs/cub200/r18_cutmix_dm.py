# Table 5, CUB-200-2011, ResNet-18, 200 epochs, CutMix with DM(CE): 78.76 (eta 1, alpha 0.2).
_base_ = 'r18_cutmix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
