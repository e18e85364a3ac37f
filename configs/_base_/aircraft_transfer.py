# Semi-supervised transfer to FGVC-Aircraft, done as that to CUB-200-2011 is.
_base_ = 'cub_transfer.py'

train_dataloader = dict(dataset=dict(dataset=dict(type='Aircraft', root='aircraft')))
val_dataloader = dict(dataset=dict(type='Aircraft', root='aircraft'))
model = dict(head=dict(num_classes=100))
