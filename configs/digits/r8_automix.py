# Digits, ResNet-8, AutoMix with MCE: alpha 2. For a run of 560 steps the momentum network follows faster than in long
# ones, and the mix block starts with larger weights, a slower step and a heavier mask loss.
_base_ = 'r8.py'

model = dict(
    mixer=dict(
        type='AutoMix', alpha=2.0, stage='stage2', momentum=0.98, momentum_end=0.999, mask_weight=1.0, init_std=0.2
    )
)
optim_wrapper = dict(paramwise_cfg=dict(custom_keys={'mixer': dict(lr_mult=0.5)}))
