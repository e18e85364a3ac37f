# Table 2, ImageNet-1k, ResNet-18, 100 epochs, no mixing: 70.04.
_base_ = 'r18.py'
