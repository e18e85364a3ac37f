# Table 9, CIFAR-100, WRN-28-8, 800 epochs, AutoMix+RSB with DM(CE): 85.54.
# Eta 1 for the dynamic batches, 0.1 for the others.
_base_ = 'wrn28-8_automix-rsb.py'

_losses = [dict(type='DecoupledCE', eta=eta) for eta in (1.0, 0.1, 0.1)]
model = dict(head=dict(loss=dict(type='ByPolicy', losses=_losses)))
