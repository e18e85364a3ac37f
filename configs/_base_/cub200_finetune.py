# The paper's fine-grained recipe on CUB-200-2011: 200 epochs of fine-tuning.
_base_ = ['cub200.py', 'finetune.py']

train_cfg = dict(max_epochs=200)
