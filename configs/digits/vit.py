# A small Vision Transformer on the digits, 4 x 4 patches of 4 px; the leaves choose mixer and loss.
_base_ = '../_base_/digits_adamw.py'

_options = dict(patch_size=4, depth=4, embed_dim=64, num_heads=4)
model = dict(
    type='MixClassifier',
    backbone=dict(type='TimmBackbone', name='vit_tiny_patch16_224', img_size=16, options=_options),
    mixer=dict(type='NoMix'),
    head=dict(type='LinearHead', loss=dict(type='MixedCE')),
)
