# Semi-supervised transfer to Stanford Cars, done as that to CUB-200-2011 is.
_base_ = 'cub_transfer.py'

train_dataloader = dict(dataset=dict(dataset=dict(type='Cars', root='cars')))
val_dataloader = dict(dataset=dict(type='Cars', root='cars'))
model = dict(head=dict(num_classes=196))
