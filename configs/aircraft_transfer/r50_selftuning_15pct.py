# Table 6, FGVC-Aircraft, ResNet-50, 15 % of the labels, Self-Tuning: 64.11.
_base_ = 'r50.py'

train_dataloader = dict(
    dataset=dict(labelled_views=[_base_._view] * 2, unlabelled_views=[_base_._view] * 2)  # query and key
)
# The unlabelled queries have a pass of their own, as released, which serves their pseudo-labels too.
model = dict(
    labeler=dict(where='unlabelled'), passes=dict(unlabelled=dict()), terms=dict(contrast=dict(type='GroupContrast'))
)
