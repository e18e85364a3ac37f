# Table 10, CIFAR-100, ConvNeXt-T, 200 epochs, SaliencyMix with MCE: 82.82 (alpha 0.2, as released).
_base_ = 'convnext-t.py'

model = dict(mixer=dict(type='SaliencyMix', alpha=0.2))
