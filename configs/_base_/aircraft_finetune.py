# The paper's fine-grained recipe on FGVC-Aircraft: 200 epochs of fine-tuning.
_base_ = ['aircraft.py', 'finetune.py']

train_cfg = dict(max_epochs=200)
