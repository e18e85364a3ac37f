# Table 10, CIFAR-100, ConvNeXt-T, 200 epochs, SAMix with MCE: 83.56 (alpha 2, as released).
_base_ = 'convnext-t.py'

model = dict(mixer=dict(type='SAMix', alpha=2.0, momentum_end=0.99996, dropout=0.1))
