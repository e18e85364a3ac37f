# The PyTorch-style recipe of Table A1: SGD, batch 256, 100 epochs, cosine to 0.
# As released: the mix block of AutoMix and SAMix ends at a learning rate of 1e-3.
_base_ = 'imagenet.py'

global_batch_size = 256
optim_wrapper = dict(type='MixOptimWrapper', optimizer=dict(type='SGD', lr=0.1, momentum=0.9, weight_decay=1e-4))
param_scheduler = dict(type='MixCosineLR', eta_min=0, mixer_eta_min=1e-3, by_epoch=True, convert_to_iter_based=True)
train_cfg = dict(max_epochs=100)
