# Table 9, CIFAR-100, WRN-28-8, 800 epochs, AutoMix+RSB with MCE: 85.35.
# Half of the batches by Mixup or CutMix; alpha 2, 0.1 and 1.
_base_ = 'wrn28-8.py'

_automix = dict(type='AutoMix', alpha=2.0, stage='stage2', mask_annealing=False)
_rsb = [dict(type='Mixup', alpha=0.1), dict(type='CutMix', alpha=1.0)]
model = dict(mixer=dict(type='RandomMixer', mixers=[_automix, *_rsb], probs=[0.5, 0.25, 0.25]))
