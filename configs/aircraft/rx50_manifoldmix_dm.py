# Table 5, FGVC-Aircraft, ResNeXt-50, 200 epochs, ManifoldMix with DM(CE): 86.92 (eta 0.1, alpha 0.2).
_base_ = 'rx50_manifoldmix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
