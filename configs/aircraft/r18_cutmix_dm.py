# Table 5, FGVC-Aircraft, ResNet-18, 200 epochs, CutMix with DM(CE): 81.64 (eta 1, alpha 0.2).
_base_ = 'r18_cutmix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
