# Digits, ResNet-8, SAMix with MCE: as for AutoMix, but for the start and the step of the mix block.
_base_ = 'r8_automix.py'

model = dict(mixer=dict(type='SAMix', init_std=0.3))
optim_wrapper = dict(paramwise_cfg=dict(custom_keys={'mixer': dict(lr_mult=1.0)}))
