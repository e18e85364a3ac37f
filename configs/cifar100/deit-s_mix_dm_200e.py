# Table 10, CIFAR-100, DeiT-S, 200 epochs, Mixup or CutMix with DM(CE): 76.20 (eta 0.1).
_base_ = 'deit-s_mix_200e.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
