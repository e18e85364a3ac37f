# A tenth of CIFAR-10, ResNet-8, CutMix with DM(CE): eta 0.1 and alpha 0.2 as the paper sets them; table cifar10_small.
_base_ = 'r8.py'

model = dict(mixer=dict(type='CutMix', alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
