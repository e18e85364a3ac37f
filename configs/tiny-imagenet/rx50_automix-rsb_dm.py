# Table 9, Tiny-ImageNet, ResNeXt-50, 400 epochs, AutoMix+RSB with DM(CE): 72.37.
# Eta 1 for the dynamic batches, 0.1 for the others.
_base_ = 'rx50_automix-rsb.py'

_losses = [dict(type='DecoupledCE', eta=eta) for eta in (1.0, 0.1, 0.1)]
model = dict(head=dict(loss=dict(type='ByPolicy', losses=_losses)))
