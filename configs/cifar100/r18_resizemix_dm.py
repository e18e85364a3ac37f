# Table 1, CIFAR-100, ResNet-18, 800 epochs, ResizeMix with DM(CE): 80.26 (eta 0.1, alpha 0.2).
_base_ = 'r18_resizemix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
