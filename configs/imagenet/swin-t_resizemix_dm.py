# Table 4, ImageNet-1k, Swin-T, DeiT recipe, 300 epochs, ResizeMix with DM(CE): 81.01 (eta 0.1, alpha 0.2).
_base_ = 'swin-t_resizemix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
