"""How each mixing policy is set in a cell: what the paper leaves to "original hyper-parameters", with its source."""

from typing import Any

from openmix_dm.paper.naming import parts_of
from openmix_dm.paper.rules import CLASSES, expected_values, policies_of_method
from openmix_dm.tables.cells import Said

# Released `mix_args`, the same for all data sets.
CONSTANTS: dict[str, dict[str, Any]] = {
    'manifoldmix': {'stages': ('input', 'stage1', 'stage2')},
    'fmix': {'decay_power': 3.0, 'max_soft': 0.0, 'two_frequencies': False},
    'resizemix': {'scope': (0.1, 0.8), 'interpolation': 'nearest'},
    'smoothmix': {'sigma': (0.25, 0.5)},
    'gridmix': {
        'n_holes': (2, 6), 'hole_aspect_ratio': 1.0, 'cut_area_ratio': (0.5, 1.0), 'cut_aspect_ratio': (0.5, 2.0),
    },
    'puzzlemix': {
        'block_num': 4, 't_size': None, 'beta': 1.2, 'gamma': 0.5, 'eta': 0.2, 'n_labels': 3, 'neigh': 4, 't_eps': 0.8,
        'transport': True, 'solver': 'relaxed',
    },
    'tokenmix': {'patch_size': 16, 'minimum_tokens': 14, 'mask': 'block', 'teacher': None},
    'attentivemix': {'top_k': None, 'input_size': 224},
}  # fmt: skip
LEARNED = {
    'stage': 'stage3', 'momentum': 0.999, 'mask_weight': 0.1, 'mask_margin': 0.1, 'lam_margin': 0.08,
    'mask_adjust': 0.0, 'clean_weight': 1.0, 'init_std': 0.01,
}  # fmt: skip
# What the momentum of AutoMix's and SAMix's second network ends at.
MOMENTUM_END = {'cifar': 0.999999, 'tiny': 0.999999, 'cifar_vits_deit': 0.99996}
STAGES = {'WRN-28-8': 'stage2', 'DeiT-S': 'block6'}
LAM_GAIN = {'cifar': 0.25, 'finegrained': 1.0}
SMALL_SCALE = ('cifar', 'tiny')  # the loss of the masks stays, and the block has no dropout
SMALL_IMAGES = ('cifar, ResNet-18', 'cifar, ResNeXt-50-32x4d', 'cifar, WRN-28-8', 'cifar_vits_deit, ConvNeXt-T')
TEACHER = {'type': 'TimmBackbone', 'name': 'resnet50.tv_in1k', 'pretrained': 'timm'}
PROBABILITIES = {
    'mix': ([0.5, 0.5], 'Appendix B.2: Mixup or CutMix with probability 0.5'),
    'rsb': ([0.5, 0.25, 0.25], 'decided: one half of the batches by Mixup or CutMix'),
    'transmix': ([0.2, 0.8], 'released deit_s_transmix_p0_8'),
    'tokenmix': ([0.1, 0.9], 'released deit_s_tokenmix'),
}


def mixer_settings(printed: dict[str, Any]) -> dict[str, Said]:
    """Return the mixer that the config of a supervised cell must have."""
    method = parts_of(printed)[2]
    names = [name for name, _ in policies_of_method(method)]
    alpha = expected_values(printed)['alpha']
    alphas = alpha if len(names) > 1 else [alpha]
    each = [_policy(printed, name, alpha) for name, alpha in zip(names, alphas, strict=True)]
    if len(each) == 1:
        return {'model.mixer': Said(each[0], _source(printed, names[0]))}
    probs, source = PROBABILITIES['rsb' if method.endswith('-rsb') else method]
    mixture = {'type': 'RandomMixer', 'mixers': each, 'probs': probs}
    parts = {'model.mixer': Said(mixture, source)}
    return parts | {f'model.mixer.mixers.{i}': Said(each[i], _source(printed, name)) for i, name in enumerate(names)}


def _policy(printed: dict[str, Any], name: str, alpha: float | None) -> dict[str, Any]:
    recipe, network = printed['setting_fields']['recipe'], printed['backbone']
    if name == 'vanilla':
        return {'type': 'NoMix'}
    # One lam for a batch, partners by a cyclic shift: docs/differences.md.
    common = {'type': CLASSES[name], 'alpha': alpha, 'per_sample': False, 'partner': 'shift'}
    if name == 'transmix':
        return {'type': 'TransMix', 'ratio': 0.5, 'mixer': {**common, 'type': 'CutMix'}}
    settings = {**common, **CONSTANTS.get(name, {})}
    if name == 'resizemix' and recipe == 'cifar_vits_deit':
        settings['interpolation'] = 'bilinear'
    if name == 'attentivemix':
        settings['teacher'] = TEACHER
    if name == 'puzzlemix' and f'{recipe}, {network}' in SMALL_IMAGES:
        settings |= {'block_num': 5, 't_size': 4}
    if name in ('automix', 'samix'):
        settings |= {**LEARNED, 'momentum_end': MOMENTUM_END.get(recipe, 0.99999)}
        settings |= {'stage': STAGES.get(network, 'stage3'), 'mask_annealing': recipe not in SMALL_SCALE}
    if name == 'samix':
        settings |= {'lam_gain': LAM_GAIN.get(recipe), 'dropout': 0.0 if recipe in SMALL_SCALE else 0.1}
    return settings


def _source(printed: dict[str, Any], name: str) -> str:
    if name == 'attentivemix':
        return 'released attentivemix_a2: a ResNet-50 as teacher'
    if name == 'resizemix' and printed['setting_fields']['recipe'] == 'cifar_vits_deit':
        return 'released cifar100/mixups/vits: ResizeMix bilinear'
    return f'original hyper-parameters of {CLASSES[name]}, as released; alpha by Appendix B.3'
