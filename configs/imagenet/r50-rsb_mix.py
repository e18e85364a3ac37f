# Table 3, ImageNet-1k, ResNet-50, RSB A3, 100 epochs, Mixup or CutMix with MCE: 76.49.
# Alpha 0.1 and 1, as the recipe has them.
_base_ = 'r50-rsb.py'

model = dict(
    mixer=dict(
        type='RandomMixer', mixers=[dict(type='Mixup', alpha=0.1), dict(type='CutMix', alpha=1.0)], probs=[0.5, 0.5]
    )
)
