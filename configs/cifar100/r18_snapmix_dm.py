# In no table of the paper: CIFAR-100, ResNet-18, 800 epochs, SnapMix with DM(CE); no number printed. eta 0.1: its boxes
# are drawn as those of static mixers are, and alpha stays.
_base_ = 'r18_snapmix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
