# Table 5, FGVC-Aircraft, ResNeXt-50, 200 epochs, Mixup with DM(CE): 86.68 (eta 0.1, alpha 0.2).
_base_ = 'rx50_mixup.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
