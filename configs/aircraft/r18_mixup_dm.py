# Table 5, FGVC-Aircraft, ResNet-18, 200 epochs, Mixup with DM(CE): 82.66 (eta 1, alpha 0.2).
_base_ = 'r18_mixup.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
