# Table 10, CIFAR-100, DeiT-S, 200 epochs, SAMix with MCE: 77.94 (alpha 2, as released).
_base_ = 'deit-s.py'

model = dict(mixer=dict(type='SAMix', alpha=2.0, stage='block6', momentum_end=0.99996, dropout=0.1))
