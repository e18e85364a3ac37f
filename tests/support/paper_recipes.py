"""Where an ingredient of a recipe is found in a config: the explicit map of the recipe tests."""

from typing import Any

from mmengine.config import Config

COSINES = {'CosineAnnealingLR', 'MixCosineLR'}
OPTIMIZER_NAMES = {'SGD': 'SGD', 'AdamW': 'AdamW', 'LAMB': 'Lamb'}


def flat(transforms: Any) -> list[dict]:
    """The transforms of a loader, those inside of a BatchEach too."""
    found = []
    for transform in transforms or []:
        found += flat(transform['transforms']) if transform['type'] == 'BatchEach' else [dict(transform)]
    return found


def transforms(config: Config, phase: str) -> dict[str, dict]:
    return {transform['type']: transform for transform in flat(config[f'{phase}_dataloader'].dataset.get('transforms'))}


def schedules(config: Config) -> dict[str, dict]:
    given = config.param_scheduler
    return {schedule['type']: schedule for schedule in (given if isinstance(given, list) else [given])}


def square(side: int) -> list[int]:
    return [side, side]


def true_or_none(value: bool) -> bool | None:
    return True if value else None


def rand_augment(config: Config) -> dict | None:
    """Read timm's policy string: rand-m9-mstd0.5-inc1."""
    found = transforms(config, 'train')
    used = found.get('RandAugment', found.get('BatchRandAugment'))
    if used is None:
        return None
    parts = used['policy'].split('-')
    std = next(part for part in parts if part.startswith('mstd'))
    magnitude = next(part for part in parts if part.startswith('m') and part != std)
    return {'magnitude': int(magnitude[1:]), 'magnitude_std': float(std[4:])}


def alpha_in_mixture(config: Config, kind: str) -> float | None:
    mixers = config.model.mixer.get('mixers', [])
    return next((mixer['alpha'] for mixer in mixers if mixer['type'] == kind), None)


def crop_ratio(config: Config) -> float:
    """The ratio in steps of 0.005: images have whole pixels, and 224 / 0.95 is no whole number."""
    used = transforms(config, 'val')
    return round(200 * used['CenterCrop']['size'] / used['ResizeShortEdge']['size']) / 200


def momentum(config: Config) -> float | list[float] | None:
    optimizer = config.optim_wrapper.optimizer
    if 'betas' in optimizer:
        return list(optimizer.betas)
    return optimizer.get('momentum')


# Ingredient of Table A1 -> what the config says, in the words of tables.json; None is the paper's cross.
INGREDIENTS = {
    'train_res': lambda c: square(transforms(c, 'train')['RandomResizedCrop']['size']),
    'test_res': lambda c: square(transforms(c, 'val')['CenterCrop']['size']),
    'test_crop_ratio': crop_ratio,
    'epochs': lambda c: c.train_cfg.max_epochs,
    'batch_size': lambda c: c.global_batch_size,
    'optimizer': lambda c: next(k for k, v in OPTIMIZER_NAMES.items() if v == c.optim_wrapper.optimizer.type),
    'lr': lambda c: c.optim_wrapper.optimizer.lr,
    'lr_decay': lambda c: 'cosine' if COSINES & set(schedules(c)) else None,
    'weight_decay': lambda c: c.optim_wrapper.optimizer.weight_decay,
    'optimizer_momentum': momentum,
    'warmup_epochs': lambda c: schedules(c).get('LinearLR', {}).get('end'),
    'label_smoothing': lambda c: c.model.head.loss.get('label_smoothing'),
    'dropout': lambda c: (c.model.backbone.get('options') or {}).get('drop_rate'),
    'stochastic_depth': lambda c: c.model.backbone.get('drop_path_rate'),
    'repeated_aug': lambda c: true_or_none(c.train_dataloader.get('repeats', 1) == 3),
    'gradient_clip': lambda c: (c.optim_wrapper.get('clip_grad') or {}).get('max_norm'),
    'horizontal_flip': lambda c: true_or_none('RandomFlip' in transforms(c, 'train')),
    'random_resized_crop': lambda c: true_or_none('RandomResizedCrop' in transforms(c, 'train')),
    'rand_augment': rand_augment,
    'auto_augment': lambda c: transforms(c, 'train').get('AutoAugment'),
    'mixup_alpha': lambda c: alpha_in_mixture(c, 'Mixup'),
    'cutmix_alpha': lambda c: alpha_in_mixture(c, 'CutMix'),
    'random_erasing_prob': lambda c: (c.model.data_preprocessor.get('erasing') or {}).get('prob'),
    'color_jitter': lambda c: transforms(c, 'train').get('ColorJitter'),
    'ema_decay': lambda c: c.default_hooks.get('ema', {}).get('decay'),
    'ce_loss': lambda c: true_or_none(c.model.head.loss.type in ('MixedCE', 'DecoupledCE')),
    'bce_loss': lambda c: true_or_none(c.model.head.loss.type in ('MixedBCE', 'DecoupledBCE')),
}


def crops_with_padding(config: Config) -> list[str]:
    """Augmentations of small images, in the words of tables.json."""
    used = transforms(config, 'train')
    words = ['RandomFlip'] if {'RandomFlip', 'BatchRandomFlip'} & set(used) else []
    if 'BatchRandomCrop' in used:
        words.append(f'RandomCrop padding {used["BatchRandomCrop"]["padding"]}')
    return words + (['RandomResizedCrop'] if 'RandomResizedCrop' in used else [])


def steps(config: Config) -> int:
    """The length of a training that counts iterations."""
    if 'max_iters' in config.get('train_cfg', {}):
        return config.train_cfg.max_iters
    (schedule,) = schedules(config).values()
    assert schedule['by_epoch'] is False
    return schedule['end']


# Ingredient of the recipes in the text -> what the config says.
TEXT = {
    'optimizer': INGREDIENTS['optimizer'],
    'momentum': lambda c: c.optim_wrapper.optimizer.momentum,
    'weight_decay': INGREDIENTS['weight_decay'],
    'batch_size': INGREDIENTS['batch_size'],
    'labeled_batch_size': INGREDIENTS['batch_size'],
    'lr': INGREDIENTS['lr'],
    'lr_schedule': lambda c: 'cosine' if (COSINES | {'CosineTailLR'}) & set(schedules(c)) else next(iter(schedules(c))),
    'epochs': INGREDIENTS['epochs'],
    'steps': steps,
    'augment': crops_with_padding,
}
