# Digits, small ViT, MixPro, Mixup or CutMix with DM(CE): eta 0.1, because no network chooses the pixels of any of them.
_base_ = 'vit_mixpro.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
