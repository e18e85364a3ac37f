# Table 1, CIFAR-100, ResNeXt-50, 800 epochs, ManifoldMix with DM(CE): 83.15 (eta 0.1, alpha 0.2).
_base_ = 'rx50_manifoldmix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
