# Table 2, ImageNet-1k, ResNet-34, 100 epochs, no mixing: 73.85.
_base_ = 'r34.py'
