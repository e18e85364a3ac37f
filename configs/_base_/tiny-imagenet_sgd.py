# The paper's small-scale recipe on Tiny-ImageNet: SGD, batch 100, 400 epochs, cosine to 0.
_base_ = 'tiny-imagenet.py'

global_batch_size = 100
optim_wrapper = dict(type='MixOptimWrapper', optimizer=dict(type='SGD', lr=0.2, momentum=0.9, weight_decay=1e-4))
param_scheduler = dict(type='CosineAnnealingLR', eta_min=0, by_epoch=True, convert_to_iter_based=True)
train_cfg = dict(max_epochs=400)
