# Table 5, CUB-200-2011, ResNeXt-50, 200 epochs, ResizeMix with MCE: 84.77 (alpha 1, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='ResizeMix', alpha=1.0))
