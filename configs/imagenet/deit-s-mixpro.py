# To inherit from: DeiT-S on ImageNet-1k with what MixPro's authors have otherwise: warm-up of 20 epochs, clipping at 5.
_base_ = 'deit-s.py'

optim_wrapper = dict(clip_grad=dict(max_norm=5.0))
param_scheduler = [
    dict(type='LinearLR', start_factor=1e-3, by_epoch=True, end=20, convert_to_iter_based=True),
    dict(type='MixCosineLR', eta_min=1e-5, mixer_eta_min=1e-4, by_epoch=True, begin=20, convert_to_iter_based=True),
]
