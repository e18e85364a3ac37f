# Digits, 40 labels, ResNet-8, MixMatch: sharpened pseudo-labels of two weak views, everything mixed with everything.
_base_ = 'r8.py'

train_dataloader = dict(dataset=dict(unlabelled_views=[_base_._weak, _base_._weak], ratio=1))
_mixed = dict(type='MixAll', mixer=dict(type='Mixup', alpha=0.5), weight=100.0, ramp=dict(type='LinearRamp', end=0.4))
model = dict(
    labeler=dict(type='Labeler', views=(0, 1), where='guess', temperature=0.5),
    passes=dict(main=dict(interleave=True)),
    terms=dict(labelled=None, mixed=_mixed),
)
