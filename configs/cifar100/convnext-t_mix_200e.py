# Table 10, CIFAR-100, ConvNeXt-T, 200 epochs, Mixup or CutMix with MCE: 83.09.
# Alpha 0.8 and 1, as the recipe has them.
_base_ = 'convnext-t.py'

model = dict(
    mixer=dict(
        type='RandomMixer', mixers=[dict(type='Mixup', alpha=0.8), dict(type='CutMix', alpha=1.0)], probs=[0.5, 0.5]
    )
)
