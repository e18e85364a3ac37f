# Table A2, CIFAR-100, ResNeXt-50, 800 epochs, AutoMix with MCE: 83.64 (alpha 2, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='AutoMix', alpha=2.0, mask_annealing=False))
