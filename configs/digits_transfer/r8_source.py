# What the transfer to the digits 5 to 9 starts from: ResNet-8 trained on 0 to 4. Stands in no table.
_base_ = '../digits/r8.py'

model = dict(head=dict(num_classes=5))
train_dataloader = dict(dataset=dict(digits=(0, 1, 2, 3, 4)))
val_dataloader = dict(dataset=dict(digits=(0, 1, 2, 3, 4)))
train_cfg = dict(max_epochs=20)
