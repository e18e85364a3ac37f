# What all configs share: where names are looked up, how long a training runs, and what is kept of it.
default_scope = 'openmix_dm'
randomness = dict(seed=0, deterministic=False)
train_cfg = dict(type='EpochTrainLoop', val_interval=1)
val_cfg = dict(type='ValidationLoop')
val_evaluator = dict(type='TopK', topk=(1, 5))
default_hooks = dict(
    records=dict(type='RecordHook', interval=50),
    checkpoint=dict(type='SaveHook', save_every_epochs=1, keep=2),
)
