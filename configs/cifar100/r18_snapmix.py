# In no table of the paper: CIFAR-100, ResNet-18, 800 epochs, SnapMix with MCE; no number printed. alpha and prob as its
# authors train from scratch.
_base_ = 'r18.py'

model = dict(mixer=dict(type='SnapMix', alpha=1.0, prob=0.5))
