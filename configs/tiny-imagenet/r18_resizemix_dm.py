# Table 1, Tiny-ImageNet, ResNet-18, 400 epochs, ResizeMix with DM(CE): 64.33 (eta 1, alpha 0.2).
_base_ = 'r18_resizemix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
