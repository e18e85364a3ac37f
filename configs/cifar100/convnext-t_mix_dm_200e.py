# Table 10, CIFAR-100, ConvNeXt-T, 200 epochs, Mixup or CutMix with DM(CE): 83.44 (eta 0.1).
_base_ = 'convnext-t_mix_200e.py'

model = dict(head=dict(loss=dict(type='DecoupledCE', eta=0.1)))
