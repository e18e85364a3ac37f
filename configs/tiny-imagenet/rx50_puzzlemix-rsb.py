# Table 9, Tiny-ImageNet, ResNeXt-50, 400 epochs, PuzzleMix+RSB with MCE: 68.17.
# Half of the batches by Mixup or CutMix; alpha 1, 0.1 and 1.
_base_ = 'rx50.py'

_puzzlemix = dict(type='PuzzleMix', alpha=1.0)
_rsb = [dict(type='Mixup', alpha=0.1), dict(type='CutMix', alpha=1.0)]
model = dict(mixer=dict(type='RandomMixer', mixers=[_puzzlemix, *_rsb], probs=[0.5, 0.25, 0.25]))
