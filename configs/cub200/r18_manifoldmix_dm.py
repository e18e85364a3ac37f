# Table 5, CUB-200-2011, ResNet-18, 200 epochs, ManifoldMix with DM(CE): 79.92 (eta 1, alpha 0.2).
_base_ = 'r18_manifoldmix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
