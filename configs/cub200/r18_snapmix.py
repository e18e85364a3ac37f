# In no table of the paper: CUB-200-2011, ResNet-18, 200 epochs, SnapMix with MCE; printed: 84.29 (at 448 px).
# alpha and prob as its authors fine-tune.
_base_ = 'r18.py'

model = dict(mixer=dict(type='SnapMix', alpha=5.0, prob=1.0))
