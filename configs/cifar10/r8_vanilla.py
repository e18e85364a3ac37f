# CIFAR-10, ResNet-8, no mixing, cross-entropy.
_base_ = 'r8.py'
