"""The values that a cell of a supervised table has by the rules of the paper, whatever its config says.

What the paper prints comes from tables.json; what it does not print is fixed here, with its source.
"""

from typing import Any

from openmix_dm.paper.naming import paper, parts_of

CLASSES = {
    'vanilla': 'NoMix',
    'mixup': 'Mixup',
    'cutmix': 'CutMix',
    'manifoldmix': 'ManifoldMix',
    'fmix': 'FMix',
    'resizemix': 'ResizeMix',
    'saliencymix': 'SaliencyMix',
    'smoothmix': 'SmoothMix',
    'gridmix': 'GridMix',
    'attentivemix': 'AttentiveMix',
    'puzzlemix': 'PuzzleMix',
    'automix': 'AutoMix',
    'samix': 'SAMix',
    'transmix': 'TransMix',
    'tokenmix': 'TokenMix',
}

# "Best of a grid" in the paper: the values of the released configs, by recipe.
SMALL_SCALE = {
    'mixup': 1.0, 'cutmix': 0.2, 'manifoldmix': 2.0, 'fmix': 0.2, 'resizemix': 1.0, 'saliencymix': 0.2,
    'puzzlemix': 1.0, 'automix': 2.0, 'samix': 2.0,
}  # fmt: skip

MODERN = {**SMALL_SCALE, 'mixup': 0.2, 'manifoldmix': 0.2}

BASELINE_ALPHA: dict[str, dict[str, float]] = {
    'cifar': SMALL_SCALE,
    'tiny': SMALL_SCALE,
    'cifar_vits_deit': {
        **SMALL_SCALE, 'mixup': 0.8, 'cutmix': 2.0, 'fmix': 1.0, 'puzzlemix': 2.0, 'smoothmix': 0.2, 'gridmix': 1.0,
        'attentivemix': 2.0,
    },
    'imagenet_pytorch': {
        **SMALL_SCALE, 'mixup': 0.2, 'manifoldmix': 0.2, 'cutmix': 1.0, 'fmix': 1.0, 'saliencymix': 1.0,
    },
    'imagenet_deit': MODERN,
    'imagenet_rsb_a3': MODERN,
    'finegrained': {**SMALL_SCALE, 'mixup': 0.2, 'cutmix': 1.0, 'manifoldmix': 0.5},
}  # fmt: skip

STATIC_CUTTING = ('cutmix', 'fmix', 'resizemix', 'saliencymix')  # alpha 0.2 for ResNet-18 on ImageNet, as released

BESIDE = {'transmix': 0.8, 'tokenmix': 1.0}  # alpha of the Mixup beside them, as released; their own is 1

# Recipes that Table A1 and the text leave out: Table 10, as released.
TABLE_10 = {'optimizer': 'AdamW', 'lr': 1e-3, 'weight_decay': 0.05, 'batch_size': 100}
RESOLUTIONS = {'cifar': 32, 'tiny': 64}
EPOCHS = {'cifar': 800}  # of Table A8, which prints none
OPTIMISERS = {'LAMB': 'Lamb'}


def expected_values(printed: dict[str, Any]) -> dict[str, Any]:
    """Return what `resolved_values` has to return for the config of a printed cell."""
    return {**_mixing(printed), **_recipe(printed)}


def _recipe(printed: dict[str, Any]) -> dict[str, Any]:
    fields = printed['setting_fields']
    recipe = fields['recipe']
    said = paper()['text_recipes'].get(recipe, TABLE_10)
    variant = parts_of(printed)[4]
    epochs = int(variant[:-1]) if variant.endswith('e') else fields.get('epochs', EPOCHS.get(recipe))
    on_small_images = recipe == 'cifar_vits_deit' and printed['backbone'] == 'ConvNeXt-T'
    return {
        'epochs': epochs,
        'optimiser': OPTIMISERS.get(said['optimizer'], said['optimizer']),
        'lr': said['lr'],
        'weight_decay': said['weight_decay'],
        'batch': said['batch_size'],
        'resolution': 32 if on_small_images else RESOLUTIONS.get(recipe, 224),
        'fraction': fields.get('label_fraction', 1.0),
    }


def _mixing(printed: dict[str, Any]) -> dict[str, Any]:
    _, _, method, loss, _ = parts_of(printed)
    policies = policies_of_method(method)
    alphas = [_alpha(printed, policy, alpha, loss) for policy, alpha in policies]
    values: dict[str, Any] = {
        'mixer_type': ' | '.join(CLASSES[policy] for policy, _ in policies),
        'alpha': alphas[0] if len(alphas) == 1 else alphas,
        'loss_type': {'dm': 'DecoupledCE', 'mbce': 'MixedBCE', 'mbce2': 'MixedBCE', 'dmbce': 'DecoupledBCE'}.get(
            loss, 'MixedCE'
        ),
        'two_hot': loss == 'mbce2',
        'eta': None,
        't': None,
        'xi': None,
    }
    if loss == 'dm':
        values['eta'] = _same_or_list([eta(printed, policy) for policy, _ in policies])
    if loss == 'dmbce':
        shapes = [_shape(policy) for policy, _ in policies]
        for name in ('t', 'xi'):
            values[name] = shapes[0][name] if len(shapes) == 1 else [shape[name] for shape in shapes]
    return values


def policies_of_method(method: str) -> list[tuple[str, float | None]]:
    """Return the policies of a method, those of a mixture with the alphas that its recipe prints."""
    if method == 'mix':
        return [('mixup', None), ('cutmix', None)]
    if method.endswith('-rsb'):
        rsb = paper()['recipes']['by_procedure']['RSB A3']
        return [(method.removesuffix('-rsb'), None), ('mixup', rsb['mixup_alpha']), ('cutmix', rsb['cutmix_alpha'])]
    if method in BESIDE:
        return [('mixup', BESIDE[method]), (method, 1.0)]
    return [(method, None)]


def _alpha(printed: dict[str, Any], policy: str, given: float | None, loss: str) -> float | None:
    recipe = printed['setting_fields']['recipe']
    if given is not None or policy == 'vanilla':
        return given
    if printed['method_id'] in ('rsb_mixup_cutmix', 'deit_mixup_cutmix'):
        procedure = 'RSB A3' if printed['method_id'].startswith('rsb') else 'DeiT'
        return paper()['recipes']['by_procedure'][procedure][f'{policy}_alpha']
    if loss in ('dm', 'dmbce'):
        return paper()['hyperparameters']['alpha_with_dm']['dynamic' if is_dynamic(policy) else 'static']
    if recipe == 'imagenet_pytorch' and printed['backbone'] == 'ResNet-18' and policy in STATIC_CUTTING:
        return 0.2
    return BASELINE_ALPHA[recipe][policy]


def is_dynamic(policy: str) -> bool:
    """Say whether a mixing policy learns or optimises its masks."""
    return CLASSES[policy] in paper()['hyperparameters']['classes']['dynamic']


def eta(printed: dict[str, Any], policy: str) -> float:
    """Return the weight of the decoupled regulariser for a batch of a policy."""
    kind = 'dynamic' if is_dynamic(policy) else 'static'
    for rule in paper()['hyperparameters']['eta']:
        fits = rule['backbone'] in ('any', printed['backbone'])
        if printed['dataset'] in rule['datasets'] and rule['method_class'] == kind and fits:
            return rule['eta']
    raise ValueError(f'the paper has no eta for {printed["dataset"]}, {printed["backbone"]}, {kind} policies')


def _shape(policy: str) -> dict[str, float]:
    interpolating = CLASSES[policy] in paper()['hyperparameters']['classes']['interpolation']
    kind = 'interpolation' if interpolating else 'cutting'
    return next(rule for rule in paper()['hyperparameters']['bce'] if rule['method_class'] == kind)


def _same_or_list(values: list[float]) -> float | list[float]:
    return values[0] if len(set(values)) == 1 else values


ETA = ALPHA = 1.0  # not printed: as in the only released config
WEIGHT_DECAY = {'CIFAR-10': 5e-4, 'CIFAR-100': 1e-3}  # from scratch, as FixMatch has it
BATCH = 24  # labelled images of a step of transfer, as Self-Tuning has it
OWN_ALPHA = {'mixmatch': 0.5, 'remixmatch': 0.75}  # of methods that mix on their own, as TorchSSL has it
SEMI_RESOLUTIONS = {'ssl_scratch': 32, 'ssl_transfer': 224}


def expected_semi_values(printed: dict[str, Any]) -> dict[str, Any]:
    """Return what `resolved_values` has to return for the config of a semi-supervised cell.

    Of the mixing what the paper adds to a method, or what a method does on its own.
    """
    fields = printed['setting_fields']
    recipe = fields['recipe']
    said = paper()['text_recipes'][recipe]
    values = {
        'steps': said['steps'],
        'optimiser': said['optimizer'],
        'lr': said['lr'],
        'weight_decay': said.get('weight_decay') or WEIGHT_DECAY[printed['dataset']],
        'batch': said.get('labeled_batch_size', BATCH),
        'resolution': SEMI_RESOLUTIONS[recipe],
        **({'labels': fields['num_labels']} if 'num_labels' in fields else {'fraction': fields['label_fraction']}),
    }
    method, loss = parts_of(printed)[2:4]
    if loss == 'ce':
        return {**values, 'alpha': OWN_ALPHA.get(method)}
    decoupled = loss == 'dm'
    return {
        **values,
        'mixer_type': 'Mixup',
        'alpha': ALPHA,
        'loss_type': 'DecoupledCE' if decoupled else 'MixedCE',
        'eta': ETA if decoupled else None,
    }
