"""What the config of a semi-supervised cell has to say beyond the printed numbers, each part with its source.

The terms of a method's loss are not here: tests/semi compares them with the methods' own code.
"""

from typing import Any

from openmix_dm.paper.naming import parts_of
from openmix_dm.paper.recipe_settings import (
    DATASETS,
    TEST,
    TRAIN,
    WITHOUT_DECAY,
    Parts,
    backbone,
    resized_crop,
    statistics,
)
from openmix_dm.paper.rules import expected_semi_values
from openmix_dm.tables.cells import Said

TORCHSSL, SELF_TUNING = 'TorchSSL, which the paper names', "Self-Tuning's code, whose settings the paper takes"

WEAK = [{'type': 'BatchRandomFlip', 'prob': 0.5}, {'type': 'BatchRandomCrop', 'padding': 4, 'mode': 'reflect'}]
STRONG = [{'type': 'BatchFixMatchRandAugment', 'n': 3, 'm': 10, 'interpolation': 'nearest'}, *WEAK]
# Views of the unlabelled images, how many of them for each labelled one, and the confidence that a label needs.
SCRATCH: dict[str, tuple[list[Any], int, float | None]] = {
    'pseudolabeling': ([WEAK], 1, None),
    'mixmatch': ([WEAK, WEAK], 1, None),
    'remixmatch': ([WEAK, STRONG, STRONG], 1, None),
    'uda': ([WEAK, STRONG], 7, 0.8),
    'fixmatch': ([WEAK, STRONG], 7, 0.95),
    'flexmatch': ([WEAK, STRONG], 7, 0.95),
}
THRESHOLDS = {'uda': 'decided: 0.8, as TorchSSL has it'}
SQUARE = {'type': 'Resize', 'size': 256, 'interpolation': 'bilinear'}
VIEW = [
    SQUARE,
    resized_crop(224, 0.08, 'bilinear'),
    {'type': 'RandomFlip', 'prob': 0.5},
    {'type': 'SelfTuningRandAugment', 'n': 2, 'm': 10, 'interpolation': 'nearest'},
]
LABELS_ALONE = ('finetuning', 'cotuning', 'bss')  # these use unlabelled images only with DM


def expected_semi_settings(printed: dict[str, Any]) -> Parts:
    """Return the parts that the config of a semi-supervised cell must have, by the names of their keys."""
    recipe, values = printed['setting_fields']['recipe'], expected_semi_values(printed)
    kind, split, classes = DATASETS[printed['dataset']]
    momentum = {'momentum': 0.9, 'nesterov': True}
    optimizer = {'type': values['optimiser'], 'lr': values['lr'], 'weight_decay': values['weight_decay'], **momentum}
    own = _scratch(printed) if recipe == 'ssl_scratch' else _transfer(printed)
    return {
        'global_batch_size': Said(values['batch'], 'Appendix B.2; transfer as in the original code'),
        'model.type': Said('SemiClassifier', 'all semi-supervised tables'),
        'model.data_preprocessor': Said(statistics(printed['dataset']), "decided: each data set's own statistics"),
        'model.backbone': backbone(recipe, printed['backbone']),
        'model.head.num_classes': Said(classes, 'the data set'),
        'model.head.loss': Said({'type': 'MixedCE', 'label_smoothing': 0.0}, 'cross-entropy without smoothing'),
        'optim_wrapper': Said(
            {'type': 'MixOptimWrapper', 'optimizer': optimizer}, 'Appendix B.2; momentum as in the original code'
        ),
        f'{TRAIN}.type': Said('Streams', 'a labelled and an unlabelled stream'),
        f'{TRAIN}.dataset.type': Said(kind, 'the data set'),
        f'{TRAIN}.dataset.split': Said('train', 'the data set'),
        f'{TEST}.type': Said(kind, 'the data set'),
        f'{TEST}.split': Said(split, 'the data set'),
        **own,
    }


def _scratch(printed: dict[str, Any]) -> Parts:
    method = parts_of(printed)[2]
    views, ratio, threshold = SCRATCH[method]
    parts = {
        f'{TRAIN}.labelled_views': Said([WEAK], TORCHSSL),
        f'{TRAIN}.unlabelled_views': Said(views, TORCHSSL),
        f'{TRAIN}.unlabelled': Said('all', TORCHSSL),
        f'{TRAIN}.ratio': Said(ratio, TORCHSSL),
        f'{TEST}.transforms': Said([], TORCHSSL),
        'model.head.init': Said('xavier', TORCHSSL),
        'optim_wrapper.paramwise_cfg': Said(WITHOUT_DECAY, f'{TORCHSSL}: no decay of norms and biases'),
        'param_scheduler': Said({'type': 'CosineTailLR', 'share': 7 / 16}, f'{TORCHSSL}: 7/16 of a cosine'),
        'train_cfg': Said(
            {'type': 'IterTrainLoop', 'max_iters': 2**20, 'val_interval': 5000}, 'Appendix B.2: 2^20 steps'
        ),
        'default_hooks.ema': Said({'type': 'EmaHook', 'decay': 0.999}, f'{TORCHSSL}: EMA 0.999'),
    }
    if threshold is not None:
        source = THRESHOLDS.get(method, 'Appendix B.2: confidence threshold 0.95')
        parts['model.labeler.threshold.tau'] = Said(threshold, source)
    return parts


def _transfer(printed: dict[str, Any]) -> Parts:
    _, _, method, loss, variant = parts_of(printed)
    count = 2 if method == 'selftuning' else 1  # query and key
    alone = method in LABELS_ALONE and loss == 'ce'
    rest = 'all' if variant == '100pct' else 'rest'
    milestones = {'milestones': [6_000, 12_000, 18_000, 24_000], 'gamma': 0.1, 'by_epoch': False, 'end': 27_000}
    head = {'custom_keys': {'head.': {'lr_mult': 10}}}
    return {
        f'{TRAIN}.labelled_views': Said([VIEW] * count, SELF_TUNING),
        f'{TRAIN}.unlabelled_views': Said([] if alone else [VIEW] * count, SELF_TUNING),
        f'{TRAIN}.unlabelled': Said(None if alone else rest, 'decided: all images where all have labels'),
        f'{TRAIN}.ratio': Said(1, SELF_TUNING),
        f'{TRAIN}.study_view': Said([SQUARE, {'type': 'CenterCrop', 'size': 224}], "Co-Tuning's code"),
        f'{TEST}.transforms': Said([SQUARE, {'type': 'TenCrop', 'size': 224}], f'{SELF_TUNING}: ten crops'),
        'model.head.init': Said('normal', SELF_TUNING),
        'optim_wrapper.paramwise_cfg': Said(head, f'{SELF_TUNING}: ten times the rate for the classifier'),
        'param_scheduler': Said({'type': 'MultiStepLR', **milestones}, f'{SELF_TUNING}: a tenth every 6,000 steps'),
        'train_cfg': Said(
            {'type': 'IterTrainLoop', 'max_iters': 27_000, 'val_interval': 3_000}, 'Appendix B.2: 27k steps'
        ),
        'default_hooks.ema': Said(None, f'{SELF_TUNING}: no EMA'),
    }
