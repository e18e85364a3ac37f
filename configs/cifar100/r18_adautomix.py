# In no table of the paper: CIFAR-100, ResNet-18, 800 epochs, AdAutoMix of three images with MCE; printed: 82.32.
# alpha 1, beta 0.3 and all else as its authors take for CIFAR-100, but for a learning rate that ends at 0, not at 0.05.
_base_ = 'r18.py'

model = dict(mixer=dict(type='AdAutoMix', images=3, beta=0.3))
