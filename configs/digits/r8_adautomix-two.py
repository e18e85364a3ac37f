# Digits, ResNet-8, AdAutoMix of two images with MCE: what r8_adautomix_dm.py changes the loss of.
_base_ = 'r8_adautomix.py'

model = dict(mixer=dict(images=2))
