# Table 1, CIFAR-100, WRN-28-8, 800 epochs, ResizeMix with DM(CE): 84.72 (eta 0.1, alpha 0.2).
_base_ = 'wrn28-8_resizemix.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
