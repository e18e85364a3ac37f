# Table 10, CIFAR-100, ConvNeXt-T, 200 epochs, no mixing: 78.70.
_base_ = 'convnext-t.py'
