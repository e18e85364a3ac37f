"""What a supervised cell's config has to say beyond the printed numbers, part by part, each with its source.

Nothing here is read from a config. `released` is OpenMixup's config, where the paper is silent; `decided` is a row of
docs/differences.md, where both cannot be right.
"""

from typing import Any

from openmix_dm.paper.mixer_settings import mixer_settings
from openmix_dm.paper.naming import paper
from openmix_dm.paper.rules import expected_values
from openmix_dm.tables.cells import Said

Parts = dict[str, Said]

TRAIN, TEST = 'train_dataloader.dataset', 'val_dataloader.dataset'
# Type of the data set, what it is tested on, and its classes.
DATASETS = {
    'CIFAR-10': ('CIFAR10', 'test', 10),
    'CIFAR-100': ('CIFAR100', 'test', 100),
    'Tiny-ImageNet': ('TinyImageNet', 'val', 200),
    'ImageNet-1k': ('ImageNet', 'val', 1000),
    'CUB-200-2011': ('CUB200', 'test', 200),
    'FGVC-Aircraft': ('Aircraft', 'test', 100),
    'Stanford-Cars': ('Cars', 'test', 196),
}
IMAGENET_STATISTICS = ([123.675, 116.28, 103.53], [58.395, 57.12, 57.375])
# Mean and deviation of the pixels (0 to 255); networks with ImageNet's weights keep ImageNet's.
STATISTICS = {
    'CIFAR-10': ([125.3, 123.0, 113.9], [63.0, 62.1, 66.7]),
    'CIFAR-100': ([129.3, 124.1, 112.4], [68.2, 65.4, 70.4]),
    'Tiny-ImageNet': ([122.5, 114.3, 101.4], [70.6, 68.6, 71.9]),
}
RESNETS = {
    'ResNet-18': 'resnet18',
    'ResNet-34': 'resnet34',
    'ResNet-50': 'resnet50',
    'ResNeXt-50-32x4d': 'resnext50_32x4d',
}
SMALL_STEMS = {
    'ResNet-18': {'type': 'CifarResNet', 'depth': 18},
    'ResNeXt-50-32x4d': {'type': 'CifarResNet', 'depth': 50, 'groups': 32, 'width_per_group': 4},
    'WRN-28-2': {'type': 'WideResNet', 'depth': 28, 'widen_factor': 2},
    'WRN-28-8': {'type': 'WideResNet', 'depth': 28, 'widen_factor': 8},
}
MODERN = {
    'DeiT-S': {'type': 'TimmBackbone', 'name': 'deit_small_patch16_224'},
    'Swin-T': {'type': 'TimmBackbone', 'name': 'swin_tiny_patch4_window7_224'},
    'ConvNeXt-T': {'type': 'TimmBackbone', 'name': 'convnext_tiny', 'stem': 'cifar'},
}

PADDED_CROP = [
    {'type': 'BatchRandomCrop', 'padding': 4, 'mode': 'reflect'},
    {'type': 'BatchRandomFlip', 'prob': 0.5},
]
B2_CROP = 'Appendix B.2: flip and crop with 4 pixels padding (by reflection, as released)'
FIXMATCH_AUGMENT = {
    'type': 'BatchRandAugment', 'policy': 'rand-m7-n2-mstd0.5', 'operations': 'fixmatch', 'interpolation': 'bicubic',
    'fill': (125, 123, 114),
}  # fmt: skip
WITHOUT_DECAY = {'norm_decay_mult': 0, 'bias_decay_mult': 0}


def resized_crop(size: int, low: float, interpolation: str) -> dict[str, Any]:
    """Return a crop of a random area of at least `low`, resized."""
    return {
        'type': 'RandomResizedCrop', 'size': size, 'scale': (low, 1.0), 'ratio': (3 / 4, 4 / 3),
        'interpolation': interpolation,
    }  # fmt: skip


def centre(edge: int, interpolation: str) -> list[dict[str, Any]]:
    """Return the crop of a test: the shorter edge resized, 224 pixels of its centre."""
    return [
        {'type': 'ResizeShortEdge', 'size': edge, 'interpolation': interpolation},
        {'type': 'CenterCrop', 'size': 224},
    ]


def cosine(end: float, mixer_end: float | None = None, warmup: int = 0) -> Any:
    """Return a cosine to an end, and for a mix block to one of its own, after epochs of linear warm-up."""
    by_epoch = {'by_epoch': True, 'convert_to_iter_based': True}
    kind = {'type': 'CosineAnnealingLR'} if mixer_end is None else {'type': 'MixCosineLR', 'mixer_eta_min': mixer_end}
    fall = {**kind, 'eta_min': end, **by_epoch}
    if not warmup:
        return fall
    return [{'type': 'LinearLR', 'start_factor': 1e-3, 'end': warmup, **by_epoch}, {**fall, 'begin': warmup}]


def augmented(magnitude: int) -> list[dict[str, Any]]:
    """Return the crops, flips and RandAugment of a modern ImageNet recipe."""
    policy = {'type': 'RandAugment', 'policy': f'rand-m{magnitude}-mstd0.5-inc1', 'interpolation': 'bicubic'}
    return [resized_crop(224, 0.08, 'bicubic'), {'type': 'RandomFlip', 'prob': 0.5}, policy]


def no_decay(*tokens: str) -> dict[str, Any]:
    """Return what is not decayed by AdamW: norms, biases, all vectors, and these tokens."""
    return {**WITHOUT_DECAY, 'flat_decay_mult': 0, 'custom_keys': {token: {'decay_mult': 0} for token in tokens}}


def block(**settings: float) -> dict[str, Any]:
    """Return the settings of parameters of the mixer."""
    return {'custom_keys': {'mixer': settings}}


ENLARGED_CROP = {'type': 'BatchEach', 'transforms': [resized_crop(224, 0.8, 'bicubic')]}
PAPER_SGD = 'Appendix B.2: SGD, momentum 0.9'
AUTOMIX = 'original hyper-parameters of AutoMix and SAMix, released '
VIT = 'released cifar100/mixups/vits'
# By recipe; those of Table 10 by network too.
RECIPES: dict[str, Parts] = {
    'cifar': {
        f'{TRAIN}.transforms': Said(PADDED_CROP, B2_CROP),
        f'{TEST}.transforms': Said([], 'released sz32_bs100.py: tests as they are'),
        'param_scheduler': Said(cosine(0), 'Appendix B.2: cosine (to 0)'),
        'optim_wrapper.optimizer.momentum': Said(0.9, PAPER_SGD),
    },
    'tiny': {
        f'{TRAIN}.transforms': Said(PADDED_CROP, B2_CROP),
        f'{TEST}.transforms': Said([], 'released tiny_imagenet: tests as they are'),
        'param_scheduler': Said(cosine(0, 1e-3), f'Appendix B.2: cosine (to 0); {AUTOMIX}tiny_imagenet/automix'),
        'optim_wrapper.optimizer.momentum': Said(0.9, PAPER_SGD),
        'optim_wrapper.paramwise_cfg': Said(block(lr_mult=0.5), f'{AUTOMIX}tiny_imagenet/automix: 0.1'),
    },
    'finegrained': {
        f'{TRAIN}.transforms': Said(
            [{'type': 'ResizeShortEdge', 'size': 256, 'interpolation': 'bilinear'},
             resized_crop(224, 0.5, 'bilinear'), {'type': 'RandomFlip', 'prob': 0.5}],
            'Appendix B.2: flip and RandomResizedCrop; sizes and scale as released (cub200/sz224_bs16.py)',
        ),
        f'{TEST}.transforms': Said(centre(256, 'bilinear'), 'released cub200/sz224_bs16.py'),
        'param_scheduler': Said(cosine(0, 5e-4), f'released: cosine to 0; {AUTOMIX}cub200/automix: 5e-4'),
        'optim_wrapper.optimizer.momentum': Said(0.9, 'released cub200'),
        'optim_wrapper.paramwise_cfg': Said(block(lr_mult=10), f'{AUTOMIX}cub200/automix: 0.01'),
    },
    'imagenet_pytorch': {
        f'{TRAIN}.transforms': Said(
            [resized_crop(224, 0.08, 'bicubic'), {'type': 'RandomFlip', 'prob': 0.5}],
            'Table A1; bicubic as released (basic_sz224_4xbs64.py)',
        ),
        f'{TEST}.transforms': Said(centre(256, 'bicubic'), 'Table A1: crop ratio 0.875; bicubic as released'),
        'param_scheduler': Said(cosine(0, 1e-3), f'Table A1: cosine (to 0); {AUTOMIX}imagenet/automix: 1e-3'),
        'optim_wrapper.optimizer.momentum': Said(0.9, 'Table A1'),
    },
    'imagenet_deit': {
        f'{TRAIN}.transforms': Said(augmented(9), 'Table A1: RandAugment 9/0.5; bicubic as DeiT has it'),
        f'{TEST}.transforms': Said(centre(256, 'bicubic'), 'Table A1: crop ratio 0.875; bicubic as DeiT has it'),
        'param_scheduler': Said(cosine(1e-5, 1e-4, 5), f'Table A1: warm-up 5, cosine; ends as released; {AUTOMIX}1e-4'),
        'optim_wrapper.optimizer.betas': Said((0.9, 0.999), 'Table A1'),
        'optim_wrapper.clip_grad': Said({'max_norm': 1.0}, 'Table A1: gradient clip 1.0'),
        'optim_wrapper.paramwise_cfg': Said(
            no_decay('cls_token', 'pos_embed', 'relative_position_bias_table'), 'released deit: no decay of these'
        ),
        'model.data_preprocessor.erasing': Said({'prob': 0.25}, 'Table A1: random erasing 0.25'),
        'model.backbone.drop_path_rate': Said(0.1, 'Table A1: stochastic depth 0.1'),
        'train_dataloader.repeats': Said(3, 'Table A1: repeated augmentation'),
        'default_hooks.ema': Said({'type': 'EmaHook', 'decay': 0.99996}, 'Table A1: EMA 0.99996'),
    },
    'imagenet_rsb_a3': {
        f'{TRAIN}.transforms': Said(augmented(6), 'Table A1: RandAugment 6/0.5; bicubic as released'),
        f'{TEST}.transforms': Said(centre(236, 'bicubic'), 'Table A1: crop ratio 0.95; bicubic as released'),
        'param_scheduler': Said(cosine(1e-6, warmup=5), 'Table A1: warm-up 5, cosine; ends as released (rsb_a3)'),
        'optim_wrapper.optimizer.betas': Said((0.9, 0.999), 'decided: betas of LAMB'),
        'optim_wrapper.optimizer.eps': Said(1e-6, 'decided: eps of LAMB'),
        'optim_wrapper.optimizer.max_grad_norm': Said(1.0, 'decided: LAMB clips the global norm at 1'),
        'optim_wrapper.paramwise_cfg': Said(WITHOUT_DECAY, 'released rsb_a3: no decay of norms and biases'),
        'model.backbone.drop_path_rate': Said(0.05, 'Table A1: stochastic depth 0.05'),
        'train_dataloader.repeats': Said(3, 'Table A1: repeated augmentation'),
    },
    'cifar_vits_deit': {
        'param_scheduler': Said(cosine(1e-6, 1e-4, 20), f'{VIT}: warm-up 20, cosine to 1e-6; {AUTOMIX}1e-4'),
        'optim_wrapper.optimizer.betas': Said((0.9, 0.999), VIT),
        'optim_wrapper.paramwise_cfg': Said(no_decay('cls_token', 'pos_embed'), f'{VIT}: no decay of these'),
    },
    'cifar_vits_deit, DeiT-S': {
        f'{TRAIN}.transforms': Said(
            [ENLARGED_CROP, PADDED_CROP[1], FIXMATCH_AUGMENT],
            "released sz224_randaug_bs100.py: FixMatch's operations",
        ),
        f'{TEST}.transforms': Said(
            [{'type': 'BatchResize', 'size': 224, 'interpolation': 'bicubic'}], 'released sz224_randaug_bs100.py'
        ),
        'optim_wrapper.clip_grad': Said({'max_norm': 5.0}, VIT),
        'model.backbone.drop_path_rate': Said(0.1, f'{VIT} (misspelt there: decided)'),
        'model.backbone.img_size': Said(224, VIT),
    },
    'cifar_vits_deit, ConvNeXt-T': {
        f'{TRAIN}.transforms': Said(
            [*PADDED_CROP, FIXMATCH_AUGMENT], f"{B2_CROP}; released sz32_randaug_bs100.py: FixMatch's operations"
        ),
        f'{TEST}.transforms': Said([], 'released sz32_randaug_bs100.py: tests as they are'),
        'model.backbone.drop_path_rate': Said(0.3, VIT),
    },
}  # fmt: skip
# Networks whose mix block has no momentum.
WITHOUT_MOMENTUM = {
    ('cifar', 'WRN-28-8'): 'cifar100/automix/basic/wrn28_8',
    ('imagenet_pytorch', 'ResNet-50'): 'imagenet/automix/basic/r50, 100 epochs',
}
LABEL_SMOOTHING = {'imagenet_deit': (0.1, 'Table A1'), 'cifar_vits_deit': (0.1, VIT)}


def expected_settings(printed: dict[str, Any]) -> Parts:
    """Return the parts that the config of a supervised cell must have, by the names of their keys."""
    recipe, network = printed['setting_fields']['recipe'], printed['backbone']
    values = expected_values(printed)
    parts = {
        **_whole(printed, values),
        **RECIPES[recipe],
        **RECIPES.get(f'{recipe}, {network}', {}),
        **mixer_settings(printed),
    }
    if (recipe, network) in WITHOUT_MOMENTUM:
        source = AUTOMIX + WITHOUT_MOMENTUM[recipe, network]
        parts['optim_wrapper.paramwise_cfg'] = Said(block(momentum=0.0), source)
    return parts


def _whole(printed: dict[str, Any], values: dict[str, Any]) -> Parts:
    """Return what all recipes have: data, network, head, optimiser and length; a recipe adds to it."""
    recipe = printed['setting_fields']['recipe']
    kind, split, classes = DATASETS[printed['dataset']]
    optimizer = {'type': values['optimiser'], 'lr': values['lr'], 'weight_decay': values['weight_decay']}
    modern = recipe in LABEL_SMOOTHING
    share = values['fraction']
    subset = None if share == 1.0 else {'type': 'SubsetBatches', 'fraction': share}
    length = {'type': 'EpochTrainLoop', 'max_epochs': values['epochs'], 'val_interval': 1}
    return {
        'global_batch_size': Said(values['batch'], 'Appendix B.2, Table A1'),
        'model': Said({'type': 'MixClassifier'}, 'all supervised tables'),
        'model.data_preprocessor': Said(statistics(printed['dataset']), "decided: each data set's own statistics"),
        'model.backbone': backbone(recipe, printed['backbone']),
        'model.head.type': Said('LinearHead', 'all tables'),
        'model.head.num_classes': Said(classes, 'the data set'),
        'model.head.init': Said('trunc_normal' if modern else 'torch', 'released: init of Vision Transformers'),
        'model.head.loss': _loss(printed, values),
        'optim_wrapper': Said({'type': 'MixOptimWrapper', 'optimizer': optimizer}, 'Appendix B.2, Table A1'),
        'default_hooks.ema': Said(None, 'Table A1: no EMA'),
        'train_cfg': Said(length, 'the epochs of the table, each validated'),
        f'{TRAIN}.type': Said(kind, 'the data set'),
        f'{TRAIN}.split': Said('train', 'the data set'),
        f'{TEST}.type': Said(kind, 'the data set'),
        f'{TEST}.split': Said(split, 'the data set'),
        'train_dataloader.sampler': Said(subset, 'Table A8: a random share of the images'),
        'train_dataloader.repeats': Said(None, 'Table A1: no repeated augmentation'),
    }


def statistics(dataset: str) -> dict[str, Any]:
    """Return the normalisation of a data set."""
    mean, std = STATISTICS.get(dataset, IMAGENET_STATISTICS)
    return {'type': 'Normalise', 'mean': mean, 'std': std}


def backbone(recipe: str, name: str) -> Said:
    """Return a network of a recipe."""
    if name in MODERN:
        return Said(MODERN[name], 'the network that the table names')
    if recipe in ('cifar', 'tiny', 'ssl_scratch'):
        return Said(SMALL_STEMS[name], 'Appendix B.2: 3x3 convolution instead of 7x7 and max-pool')
    network = {'type': 'TimmBackbone', 'name': RESNETS[name]}
    if recipe in ('finegrained', 'ssl_transfer'):
        network |= {'name': f'{RESNETS[name]}.tv_in1k', 'pretrained': 'timm'}
    return Said(network, "Appendix B.2: official PyTorch weights, or none for ImageNet's own tables")


def _loss(printed: dict[str, Any], values: dict[str, Any]) -> Said:
    """Return the loss; a mixture whose policies differ in it has one for each."""
    smoothing, said = LABEL_SMOOTHING.get(printed['setting_fields']['recipe'], (0.0, 'Table A1: no label smoothing'))
    kind = values['loss_type']
    names = {'MixedCE': (), 'DecoupledCE': ('eta',), 'MixedBCE': ('two_hot',), 'DecoupledBCE': ('t', 'xi')}[kind]
    base = {'type': kind} | ({'label_smoothing': smoothing} if kind.endswith('CE') and 'BCE' not in kind else {})
    source = f'{said}; Appendix B.3 and {paper()["paper"]["short_name"]}: eta, t and xi'
    given = {name: values[name] for name in names}
    lists = {name: value for name, value in given.items() if isinstance(value, list)}
    if not lists:
        return Said(base | given, source)
    each = [dict(zip(lists, numbers, strict=True)) for numbers in zip(*lists.values(), strict=True)]
    return Said({'type': 'ByPolicy', 'losses': [base | given | one for one in each]}, source)
