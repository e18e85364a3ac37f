# Digits, 40 labels, ResNet-8, FixMatch + DM, with two parts of the released DMixMatch that the paper does not name:
# mixed images have a head of their own, and an average of the weights makes the pseudo-labels.
_base_ = 'r8_fixmatch_dm.py'

model = dict(teacher_decay=0.98, labeler=dict(where='teacher'), terms=dict(mix=dict(own_head=True)))
