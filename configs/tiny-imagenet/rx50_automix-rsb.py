# Table 9, Tiny-ImageNet, ResNeXt-50, 400 epochs, AutoMix+RSB with MCE: 70.98.
# Half of the batches by Mixup or CutMix; alpha 2, 0.1 and 1.
_base_ = 'rx50.py'

_automix = dict(type='AutoMix', alpha=2.0, mask_annealing=False)
_rsb = [dict(type='Mixup', alpha=0.1), dict(type='CutMix', alpha=1.0)]
model = dict(mixer=dict(type='RandomMixer', mixers=[_automix, *_rsb], probs=[0.5, 0.25, 0.25]))
