# To inherit from: ResNeXt-50 with weight decay 5e-4, which probably made the printed baselines of cutting mixers.
_base_ = 'rx50.py'

optim_wrapper = dict(optimizer=dict(weight_decay=5e-4))
