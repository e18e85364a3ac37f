# Table A6, FGVC-Aircraft, ResNet-18, 200 epochs, SaliencyMix with DM(CE): 81.31 (eta 1, alpha 0.2).
_base_ = 'r18_saliencymix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
