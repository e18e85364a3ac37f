# FGVC-Aircraft: 6,667 training (trainval) and 3,333 test images, treated as those of CUB-200-2011 are.
_base_ = 'cub200.py'

train_dataloader = dict(dataset=dict(type='Aircraft', root='aircraft'))
val_dataloader = dict(dataset=dict(type='Aircraft', root='aircraft'))
model = dict(head=dict(num_classes=100))
