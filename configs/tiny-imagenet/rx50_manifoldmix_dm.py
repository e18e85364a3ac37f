# Table 1, Tiny-ImageNet, ResNeXt-50, 400 epochs, ManifoldMix with DM(CE): 68.48 (eta 0.1, alpha 0.2).
_base_ = 'rx50_manifoldmix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
