# In no table of the paper: CIFAR-100, ResNet-18, 800 epochs, RecursiveMix with MCE; no number printed. alpha and omega
# are the defaults of its authors' code, who do not say which omega they took for CIFAR-100.
_base_ = 'r18.py'

model = dict(mixer=dict(type='RecursiveMix', alpha=0.5, omega=0.5))
