# Stanford Cars: 8,144 training and 8,041 test images, treated as those of CUB-200-2011 are.
_base_ = 'cub200.py'

train_dataloader = dict(dataset=dict(type='Cars', root='cars'))
val_dataloader = dict(dataset=dict(type='Cars', root='cars'))
model = dict(head=dict(num_classes=196))
