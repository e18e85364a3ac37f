# Table 2, ImageNet-1k, ResNet-50, 100 epochs, no mixing: 76.83.
_base_ = 'r50.py'
