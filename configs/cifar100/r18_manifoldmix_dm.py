# Table 1, CIFAR-100, ResNet-18, 800 epochs, ManifoldMix with DM(CE): 81.05 (eta 0.1, alpha 0.2).
_base_ = 'r18_manifoldmix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
