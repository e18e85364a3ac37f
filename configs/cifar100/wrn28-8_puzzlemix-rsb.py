# Table 9, CIFAR-100, WRN-28-8, 800 epochs, PuzzleMix+RSB with MCE: 85.24.
# Half of the batches by Mixup or CutMix; alpha 1, 0.1 and 1.
_base_ = 'wrn28-8.py'

_puzzlemix = dict(type='PuzzleMix', alpha=1.0, block_num=5, t_size=4)
_rsb = [dict(type='Mixup', alpha=0.1), dict(type='CutMix', alpha=1.0)]
model = dict(mixer=dict(type='RandomMixer', mixers=[_puzzlemix, *_rsb], probs=[0.5, 0.25, 0.25]))
