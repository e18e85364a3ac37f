# ResNet-8 on a tenth of CIFAR-10, for the table cifar10_small; the leaves choose mixer and loss. 5,000 images drawn
# once, all 10,000 test images after the last epoch only: minutes on a CPU.
_base_ = '../cifar10/r8.py'

train_dataloader = dict(sampler=dict(type='SubsetBatches', fraction=0.1))
train_cfg = dict(max_epochs=8, val_interval=8)
