# In no table of the paper: CIFAR-100, ResNet-18, 800 epochs, AdAutoMix of two images with DM(CE); no number printed.
# eta 1, as the paper sets it for dynamic mixers; labels of three images have no DM.
_base_ = 'r18_adautomix.py'

model = dict(mixer=dict(images=2), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
