# Tables 4 and A5, ImageNet-1k, DeiT-S, DeiT recipe, 300 epochs, Mixup or CutMix with DM(CE): 80.37 (eta 0.1).
_base_ = 'deit-s_mix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
