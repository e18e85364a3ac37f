# Tables A2 and A7, Tiny-ImageNet, ResNet-18, 400 epochs, AutoMix with DM(CE): 68.18, FGSM error 88.34 (eta 1, alpha 2).
_base_ = 'r18_automix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
