# Table A4, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, PuzzleMix with MBCE(one): 78.02.
_base_ = 'r50-rsb_puzzlemix.py'

model = dict(head=dict(loss=dict(type='MixedBCE')))
