# In no table of the paper: CIFAR-100, ResNet-18, 800 epochs, AlignMixup with DM(CE); no number printed. eta 0.1 and
# alpha 0.2, as the paper sets them for static mixers: it asks no network beside the forward pass.
_base_ = 'r18_alignmixup.py'

model = dict(mixer=dict(alpha=0.2), head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
