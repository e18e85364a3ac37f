# Table 9, Tiny-ImageNet, ResNeXt-50, 400 epochs, PuzzleMix+RSB with DM(CE): 68.86.
# Eta 1 for the dynamic batches, 0.1 for the others.
_base_ = 'rx50_puzzlemix-rsb.py'

_puzzlemix = dict(type='PuzzleMix', alpha=2.0)
_rsb = [dict(type='Mixup', alpha=0.1), dict(type='CutMix', alpha=1.0)]
_losses = [dict(type='DecoupledCE', eta=eta) for eta in (1.0, 0.1, 0.1)]
model = dict(mixer=dict(mixers=[_puzzlemix, *_rsb]), head=dict(loss=dict(type='ByPolicy', losses=_losses)))
