# Table 1, CIFAR-100, ResNet-18, 800 epochs, Mixup with DM(CE): 80.44 (eta 0.1, alpha 0.2).
_base_ = 'r18_mixup.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
