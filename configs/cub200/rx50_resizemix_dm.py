# Table 5, CUB-200-2011, ResNeXt-50, 200 epochs, ResizeMix with DM(CE): 84.92 (eta 0.1, alpha 0.2).
_base_ = 'rx50_resizemix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
