# Table 5, FGVC-Aircraft, ResNet-18, 200 epochs, ResizeMix with DM(CE): 79.54 (eta 1, alpha 0.2).
_base_ = 'r18_resizemix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
