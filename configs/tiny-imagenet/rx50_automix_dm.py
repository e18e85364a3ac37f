# Tables 9 and A2, Tiny-ImageNet, ResNeXt-50, 400 epochs, AutoMix with DM(CE): 71.56 (eta 1, alpha 2).
_base_ = 'rx50_automix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
