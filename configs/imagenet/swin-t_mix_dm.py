# Tables 4 and A5, ImageNet-1k, Swin-T, DeiT recipe, 300 epochs, Mixup or CutMix with DM(CE): 81.49 (eta 0.1).
_base_ = 'swin-t_mix.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
