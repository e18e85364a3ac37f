# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, ResizeMix with DM(CE): 77.21 (eta 0.1, alpha 0.2).
_base_ = 'r50-rsb_resizemix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
