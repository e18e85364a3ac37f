# CIFAR-10, ResNet-8, Mixup with DM(CE): eta 0.1 and alpha 0.2, as the paper sets them for static mixers.
_base_ = 'r8.py'

model = dict(mixer=dict(type='Mixup', alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
