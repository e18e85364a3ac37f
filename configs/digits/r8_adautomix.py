# Digits, ResNet-8, AdAutoMix of three images with MCE: beta as its authors take for CIFAR-100; the momentum network,
# and the mix block's start and step, as for AutoMix in a run of 560 steps.
_base_ = 'r8.py'

model = dict(
    mixer=dict(type='AdAutoMix', images=3, beta=0.3, stage='stage2', momentum=0.98, momentum_end=0.999, init_std=0.2)
)
optim_wrapper = dict(paramwise_cfg=dict(custom_keys={'mixer': dict(lr_mult=0.5)}))
