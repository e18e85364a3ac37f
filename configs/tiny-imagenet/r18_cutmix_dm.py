# Tables 1 and A7, Tiny-ImageNet, ResNet-18, 400 epochs, CutMix with DM(CE): 66.45, FGSM error 88.79 (eta 1, alpha 0.2).
_base_ = 'r18_cutmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
