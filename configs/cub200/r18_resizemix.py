# Table 5, CUB-200-2011, ResNet-18, 200 epochs, ResizeMix with MCE: 78.50 (alpha 1, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='ResizeMix', alpha=1.0))
