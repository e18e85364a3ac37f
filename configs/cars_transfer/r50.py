# ResNet-50 with ImageNet weights of torchvision, for the transfer to Stanford Cars; the leaves choose the method.
# The unlabelled images have a pass of their own; their guesses are taken whatever the confidence.
_base_ = '../_base_/cars_transfer.py'

model = dict(
    type='SemiClassifier',
    backbone=dict(type='TimmBackbone', name='resnet50.tv_in1k', pretrained='timm'),
    head=dict(type='LinearHead', init='normal', loss=dict(type='MixedCE')),
    labeler=dict(type='Labeler', where='unlabelled', threshold=dict(type='FixedThreshold', tau=0.0)),
    passes=dict(unlabelled=dict()),
    terms=dict(labelled=dict(type='Supervised')),
)
