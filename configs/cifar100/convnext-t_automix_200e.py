# Table 10, CIFAR-100, ConvNeXt-T, 200 epochs, AutoMix with MCE: 83.30 (alpha 2, as released).
_base_ = 'convnext-t.py'

model = dict(mixer=dict(type='AutoMix', alpha=2.0, momentum_end=0.99996))
