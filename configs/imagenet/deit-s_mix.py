# Tables 4 and A5, ImageNet-1k, DeiT-S, DeiT recipe, 300 epochs, Mixup or CutMix with MCE: 79.80.
# Alpha 0.8 and 1, as the recipe has them.
_base_ = 'deit-s.py'

model = dict(
    mixer=dict(
        type='RandomMixer', mixers=[dict(type='Mixup', alpha=0.8), dict(type='CutMix', alpha=1.0)], probs=[0.5, 0.5]
    )
)
