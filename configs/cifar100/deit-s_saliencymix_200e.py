# Table 10, CIFAR-100, DeiT-S, 200 epochs, SaliencyMix with MCE: 69.78 (alpha 0.2, as released).
_base_ = 'deit-s.py'

model = dict(mixer=dict(type='SaliencyMix', alpha=0.2))
