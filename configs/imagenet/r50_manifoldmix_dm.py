# Table 2, ImageNet-1k, ResNet-50, 100 epochs, ManifoldMix with DM(CE): 77.30 (eta 0.1, alpha 0.2).
_base_ = 'r50_manifoldmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
