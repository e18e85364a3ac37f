# Tables 9 and A2, Tiny-ImageNet, ResNeXt-50, 400 epochs, AutoMix with MCE: 70.72 (alpha 2, as released).
_base_ = 'rx50.py'

model = dict(mixer=dict(type='AutoMix', alpha=2.0, mask_annealing=False))
