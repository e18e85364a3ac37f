# Table 2, ImageNet-1k, ResNet-34, 100 epochs, ResizeMix with DM(CE): 74.00 (eta 0.1, alpha 0.2).
_base_ = 'r34_resizemix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
