# In no table of the paper: CIFAR-100, DeiT-S, 200 epochs, Mixup or SMMix with DM(CE); no number printed.
# eta 0.1 for Mixup and 1 for SMMix, which asks the network.
_base_ = 'deit-s_smmix_200e.py'

_losses = [dict(type='DecoupledCE', eta=eta, label_smoothing=0.1) for eta in (0.1, 1.0)]
model = dict(head=dict(loss=dict(_delete_=True, type='ByPolicy', losses=_losses)))
