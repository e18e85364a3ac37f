# Table 4, ImageNet-1k, DeiT-S, DeiT recipe, 300 epochs, ResizeMix with DM(CE): 80.03 (eta 0.1, alpha 0.2).
_base_ = 'deit-s_resizemix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
