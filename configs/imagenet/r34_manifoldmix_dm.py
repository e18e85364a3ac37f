# Table 2, ImageNet-1k, ResNet-34, 100 epochs, ManifoldMix with DM(CE): 74.25 (eta 0.1, alpha 0.2).
_base_ = 'r34_manifoldmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
