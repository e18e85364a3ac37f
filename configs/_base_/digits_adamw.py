# The recipe of transformers on the digits: AdamW, cosine, batch 50, and the epochs of digits_sgd.py.
_base_ = 'digits.py'

global_batch_size = 50
optim_wrapper = dict(type='MixOptimWrapper', optimizer=dict(type='AdamW', lr=2e-3, weight_decay=0.05))
param_scheduler = dict(type='CosineAnnealingLR', eta_min=0, by_epoch=True, convert_to_iter_based=True)
train_cfg = dict(max_epochs=40)
