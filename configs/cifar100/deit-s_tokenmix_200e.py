# Table 10, CIFAR-100, DeiT-S, 200 epochs, Mixup or TokenMix with MCE: 76.25 (alpha and probabilities as released).
_base_ = 'deit-s.py'

model = dict(
    mixer=dict(
        type='RandomMixer', mixers=[dict(type='Mixup', alpha=1.0), dict(type='TokenMix', alpha=1.0)], probs=[0.1, 0.9]
    )
)
