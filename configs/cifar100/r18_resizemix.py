# Table 1, CIFAR-100, ResNet-18, 800 epochs, ResizeMix with MCE: 80.01 (alpha 1, as released).
_base_ = 'r18.py'

model = dict(mixer=dict(type='ResizeMix', alpha=1.0))
