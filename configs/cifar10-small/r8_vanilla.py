# A tenth of CIFAR-10, ResNet-8, no mixing, cross-entropy: table cifar10_small.
_base_ = 'r8.py'
