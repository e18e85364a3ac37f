# Digits, small ViT, no mixing, cross-entropy.
_base_ = 'vit.py'
