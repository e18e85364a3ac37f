# Tables 1 and A7, Tiny-ImageNet, ResNet-18, 400 epochs, Mixup with DM(CE): 65.07, FGSM error 88.91 (eta 1, alpha 0.2).
_base_ = 'r18_mixup.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
