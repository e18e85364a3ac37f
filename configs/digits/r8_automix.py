# Digits, ResNet-8, AutoMix with MCE: masks from 8 x 8 features; the momentum network follows faster than in long runs.
_base_ = 'r8.py'

model = dict(mixer=dict(type='AutoMix', alpha=2.0, stage='stage2', momentum=0.98, momentum_end=0.999))
