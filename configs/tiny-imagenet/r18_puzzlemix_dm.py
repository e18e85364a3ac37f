# Tables A2 and A7, Tiny-ImageNet, ResNet-18, 400 epochs, PuzzleMix with DM(CE): 66.52 and 66.13, FGSM error 92.05.
# Eta 1, alpha 2.
_base_ = 'r18_puzzlemix.py'

model = dict(mixer=dict(alpha=2.0), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
