# The paper's small-scale recipe on Tiny-ImageNet: SGD, batch 100, 400 epochs, cosine to 0.
# As released: the mix block of AutoMix and SAMix, with learning rates from 0.1 to 1e-3.
_base_ = 'tiny-imagenet.py'

global_batch_size = 100
optim_wrapper = dict(
    type='MixOptimWrapper',
    optimizer=dict(type='SGD', lr=0.2, momentum=0.9, weight_decay=1e-4),
    paramwise_cfg=dict(custom_keys=dict(mixer=dict(lr_mult=0.5))),
)
param_scheduler = dict(type='MixCosineLR', eta_min=0, mixer_eta_min=1e-3, by_epoch=True, convert_to_iter_based=True)
train_cfg = dict(max_epochs=400)
