# Digits, ResNet-8, SaliencyMix with MCE: alpha 0.2, as the released baselines have it on CIFAR.
_base_ = 'r8.py'

model = dict(mixer=dict(type='SaliencyMix', alpha=0.2))
