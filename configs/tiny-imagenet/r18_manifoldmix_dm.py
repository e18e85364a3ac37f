# Tables 1 and A7, Tiny-ImageNet, ResNet-18, 400 epochs, ManifoldMix with DM(CE): 65.45, FGSM error 88.52.
# Eta 1, alpha 0.2.
_base_ = 'r18_manifoldmix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
