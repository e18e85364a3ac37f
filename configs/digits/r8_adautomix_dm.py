# Digits, ResNet-8, AdAutoMix of two images with DM(CE): eta 1, as the paper sets it for dynamic mixers. Labels of three
# images have no DM.
_base_ = 'r8_adautomix.py'

model = dict(mixer=dict(images=2), head=dict(loss=dict(type='DecoupledCE', eta=1.0)))
