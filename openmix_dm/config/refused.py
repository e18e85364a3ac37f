"""What of mmengine a config cannot have, with the reason and our name for it."""

SHARDED = (
    'each rank would hold a part of the weights, while checkpoints, averages of weights and the networks of mixers are '
    'made of all of them. For memory there are activation_checkpointing, optim_wrapper.amp and '
    'optim_wrapper.accumulative_counts'
)
# Keys of mmengine that would fight what we promise: the reason, and our key for it.
REFUSED = {
    'auto_scale_lr': 'the learning rate belongs to the global batch and is never rescaled; set global_batch_size',
    'log_processor': 'records are averaged and written by RecordHook; set default_hooks.records',
    'efficient_conv_bn_eval': 'it fixes the forward of a module as it was traced: the hooks by which mixers reach '
    'stages would no longer run, and stochastic depth would go on in validations',
    'strategy': f'of FlexibleRunner; {SHARDED}',
    'runner_type': 'there is one runner, MixRunner',
}
# Wrappers for several ranks that cannot train here: the reason.
REFUSED_WRAPPERS = {
    **dict.fromkeys(('DistributedDataParallel', 'DataParallel'), 'it has no train_step; MMDistributedDataParallel has'),
    'MMSeparateDistributedDataParallel': 'it wraps the parts of a model one by one, for several optimisers; there is '
    'one here, and parts call more of each other than forward',
    **dict.fromkeys(
        (
            'MMFullyShardedDataParallel',
            'MMDeepSpeedEngineWrapper',
            'ColossalAIModelWrapper',
            'CollosalAIModelWrapper',
        ),
        SHARDED,
    ),
}
# Hooks of mmengine that would fight ours: the name of ours in default_hooks.
OUR_HOOKS = {
    'CheckpointHook': 'checkpoint=dict(type="SaveHook", ...), which saves so that a crash costs nothing',
    'LoggerHook': 'records=dict(type="RecordHook", interval=...), which writes metrics.jsonl',
    'DistSamplerSeedHook': 'seed=dict(type="SeedHook"), and samplers that need no seed of an epoch',
}
