# Table 9, CIFAR-100, WRN-28-8, 800 epochs, PuzzleMix+RSB with DM(CE): 85.61.
# Eta 1 for the dynamic batches, 0.1 for the others.
_base_ = 'wrn28-8_puzzlemix-rsb.py'

_puzzlemix = dict(type='PuzzleMix', alpha=2.0, block_num=5, t_size=4)
_rsb = [dict(type='Mixup', alpha=0.1), dict(type='CutMix', alpha=1.0)]
_losses = [dict(type='DecoupledCE', eta=eta) for eta in (1.0, 0.1, 0.1)]
model = dict(mixer=dict(mixers=[_puzzlemix, *_rsb]), head=dict(loss=dict(type='ByPolicy', losses=_losses)))
