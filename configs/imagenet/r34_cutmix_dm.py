# Table 2, ImageNet-1k, ResNet-34, 100 epochs, CutMix with DM(CE): 73.88 (eta 0.1, alpha 0.2).
_base_ = 'r34_cutmix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
