"""What may stand where in a config: which registry builds what is below a key, and who fills in which argument."""

from mmengine.registry import Registry

from openmix_dm.registry import (
    BACKBONES,
    DATA_SAMPLERS,
    DATASETS,
    HEADS,
    HOOKS,
    LOOPS,
    LOSSES,
    METRICS,
    MIXERS,
    MODELS,
    OPTIM_WRAPPERS,
    OPTIMIZERS,
    PARAM_SCHEDULERS,
    SEMI_PARTS,
    TRANSFORMS,
)

# Top-level keys of ours, beside the arguments of mmengine's Runner and those that it reads from the config.
OURS = {'global_batch_size', 'channels_last'}
READ_BY_RUNNER = {'compile', 'find_unused_parameters', 'sync_bn', 'model_wrapper_cfg', 'custom_imports'}

# A config below one of these keys (of any depth, alone or in a list) is built by this registry.
REGISTRIES: dict[str, Registry] = {
    'model': MODELS,
    'data_preprocessor': MODELS,
    'backbone': BACKBONES,
    'teacher': BACKBONES,
    'head': HEADS,
    'mixer': MIXERS,
    'mixers': MIXERS,
    'loss': LOSSES,
    'losses': LOSSES,
    'dataset': DATASETS,
    'transforms': TRANSFORMS,
    'labelled_views': TRANSFORMS,
    'unlabelled_views': TRANSFORMS,
    'study_view': TRANSFORMS,
    'labeler': SEMI_PARTS,
    'threshold': SEMI_PARTS,
    'align': SEMI_PARTS,
    'ramp': SEMI_PARTS,
    'sampler': DATA_SAMPLERS,
    'optim_wrapper': OPTIM_WRAPPERS,
    'optimizer': OPTIMIZERS,
    'param_scheduler': PARAM_SCHEDULERS,
    'train_cfg': LOOPS,
    'val_cfg': LOOPS,
    'test_cfg': LOOPS,
    'val_evaluator': METRICS,
    'test_evaluator': METRICS,
    'custom_hooks': HOOKS,
}

# Arguments that the builder of a kind fills in or takes for itself.
FILLED_IN: dict[Registry, set[str]] = {
    HEADS: {'in_features'},
    LOOPS: {'runner', 'dataloader', 'evaluator'},
    DATA_SAMPLERS: {'dataset', 'batch_size', 'seed'},
    OPTIM_WRAPPERS: {'optimizer'},
    OPTIMIZERS: {'params'},
    PARAM_SCHEDULERS: {'optimizer', 'param_name'},
}
ALSO_TAKEN: dict[Registry, set[str]] = {
    OPTIM_WRAPPERS: {'constructor', 'paramwise_cfg'},
    PARAM_SCHEDULERS: {'convert_to_iter_based'},
    HOOKS: {'priority'},
}
DEFAULT_TYPES = {'train_cfg': 'EpochBasedTrainLoop', 'val_cfg': 'ValidationLoop', 'test_cfg': 'EvaluationLoop'}
PARAMWISE = {
    'norm_decay_mult', 'bias_lr_mult', 'bias_decay_mult', 'dcn_offset_lr_mult', 'bypass_duplicate', 'custom_keys',
    'dwconv_decay_mult', 'flat_decay_mult',
}  # fmt: skip
