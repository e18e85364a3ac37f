# Table 1, Tiny-ImageNet, ResNeXt-50, 400 epochs, ResizeMix with DM(CE): 68.56 (eta 0.1, alpha 0.2).
_base_ = 'rx50_resizemix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
