"""Every number of Table A1 and of the recipes in the text stands in a config."""

import json
import math

import pytest
import torch
from conftest import ROOT
from mmengine.optim import build_optim_wrapper
from support.paper_recipes import INGREDIENTS, TEXT, schedules

from openmix_dm.config.load import load_config
from openmix_dm.config.resolve import resolve
from openmix_dm.datasets.samplers.sample_index import BatchDraws
from openmix_dm.registry import MIXERS, MODELS, PARAM_SCHEDULERS, TRANSFORMS

TABLES = json.loads((ROOT / 'openmix_dm/paper/tables.json').read_text())
TABLE_A1 = TABLES['recipes']
# The row of each procedure that uses all of its ingredients.
PROCEDURES = {'PyTorch': 'imagenet/r50_mixup', 'DeiT': 'imagenet/deit-s_mix', 'RSB A3': 'imagenet/r50-rsb_mix_mbce'}
RECIPES = {
    'cifar': ['cifar100/r18', 'cifar100/rx50', 'cifar100/wrn28-8'],
    'tiny': ['tiny-imagenet/r18', 'tiny-imagenet/rx50'],
    'finegrained': ['cub200/r18', 'cub200/rx50', 'aircraft/r18', 'aircraft/rx50'],
    'imagenet_pytorch': ['imagenet/r18', 'imagenet/r34', 'imagenet/r50'],
    'imagenet_deit': ['imagenet/deit-s', 'imagenet/swin-t'],
    'imagenet_rsb_a3': ['imagenet/r50-rsb'],
    'ssl_transfer': ['_base_/transfer'],
    'ssl_scratch': ['cifar10_semi/wrn28-2', 'cifar100_semi/wrn28-8'],
}
# What tables.json says in words that no single key of a config holds: tested by name below, or no setting at all.
IN_WORDS = {
    'datasets', 'source', 'stem', 'resolution', 'init', 'mix_default', 'loss', 'label_fractions', 'backbones',
    'codebase', 'confidence_threshold',
}  # fmt: skip


def config_of(name):
    return load_config(ROOT / 'configs' / f'{name}.py')


@pytest.mark.parametrize('procedure', TABLE_A1['procedures'])
def test_table_a1_ingredient_by_ingredient(procedure):
    assert set(INGREDIENTS) == {row['ingredient'] for row in TABLE_A1['rows']}
    config, printed = config_of(PROCEDURES[procedure]), TABLE_A1['by_procedure'][procedure]
    for name, read in INGREDIENTS.items():
        expected = printed[name]
        if (procedure, name) == ('PyTorch', 'epochs'):
            expected = 100  # of "100/300": only results of 100 epochs are printed
        assert read(config) == expected, name


@pytest.mark.parametrize('recipe', TABLES['text_recipes'])
def test_recipes_of_the_text(recipe):
    printed = TABLES['text_recipes'][recipe]
    assert set(printed) <= set(TEXT) | IN_WORDS
    for name in RECIPES[recipe]:
        config = config_of(name)
        for ingredient, read in TEXT.items():
            if printed.get(ingredient) is not None and (recipe, ingredient) != ('ssl_transfer', 'augment'):
                assert read(config) == printed[ingredient], (name, ingredient)


def test_what_the_text_says_in_words():
    for name in RECIPES['cifar'] + RECIPES['tiny']:  # "3x3 conv instead of 7x7 conv and max-pool"
        assert config_of(name).model.backbone.type in ('CifarResNet', 'WideResNet')
    for name in RECIPES['finegrained']:  # "official PyTorch ImageNet-1k weights"
        backbone = config_of(name).model.backbone
        assert backbone.name.endswith('.tv_in1k')
        assert backbone.pretrained == 'timm'
    for name, alpha in (('imagenet/deit-s_mix', 0.8), ('imagenet/swin-t_mix', 0.8), ('imagenet/r50-rsb_mix', 0.1)):
        mixer = config_of(name).model.mixer.to_dict()  # "Mixup(0.8)|CutMix(1.0), switch prob 0.5"
        assert mixer['mixers'] == [{'type': 'Mixup', 'alpha': alpha}, {'type': 'CutMix', 'alpha': 1.0}]
        assert mixer['probs'] == [0.5, 0.5]


def test_the_recipes_of_table_10_are_those_released():
    deit, convnext = config_of('cifar100/deit-s'), config_of('cifar100/convnext-t')
    for config in (deit, convnext):
        assert config.optim_wrapper.optimizer.to_dict() == {
            'type': 'AdamW', 'lr': 1e-3, 'betas': (0.9, 0.999), 'weight_decay': 0.05,
        }  # fmt: skip
        assert config.global_batch_size == 100
        assert schedules(config)['LinearLR']['end'] == 20
        assert config.model.head.loss.label_smoothing == 0.1
        assert INGREDIENTS['rand_augment'](config) == {'magnitude': 7, 'magnitude_std': 0.5}
    assert deit.optim_wrapper.clip_grad.max_norm == 5.0
    assert 'clip_grad' not in convnext.optim_wrapper
    assert (deit.model.backbone.drop_path_rate, convnext.model.backbone.drop_path_rate) == (0.1, 0.3)
    assert INGREDIENTS['train_res'](deit) == [224, 224]
    assert TEXT['augment'](convnext) == TABLES['text_recipes']['cifar']['augment']


@pytest.mark.parametrize('name', ['cifar100/deit-s', 'cifar100/convnext-t'])
def test_the_images_of_table_10_go_through_fixmatchs_operations(name):
    """What the config builds: no Invert, no SolarizeAdd; 14 operations drawn alike."""
    built = [TRANSFORMS.build(transform) for transform in config_of(name).train_dataloader.dataset.transforms]
    assert built[-1].operations == (
        'Identity', 'AutoContrast', 'Equalize', 'Posterize', 'Solarize', 'Brightness', 'Color', 'Contrast', 'Sharpness',
        'Rotate', 'ShearX', 'ShearY', 'TranslateX', 'TranslateY',
    )  # fmt: skip
    images = torch.randint(0, 256, (6, 3, 32, 32), dtype=torch.uint8)
    for transform in built:
        images = transform(images, BatchDraws(range(6)))
    assert tuple(images.shape[2:]) == ((224, 224) if name.endswith('deit-s') else (32, 32))


def test_what_table_10_builds_of_its_mixers():
    for network in ('deit-s', 'convnext-t'):
        with torch.device('meta'):
            attentive = MIXERS.build(config_of(f'cifar100/{network}_attentivemix_200e').model.mixer)
            resize = MIXERS.build(config_of(f'cifar100/{network}_resizemix_600e').model.mixer)
        assert (
            sum(p.numel() for p in attentive.teacher.parameters()) == 23_508_032
        )  # a ResNet-50 without its classifier
        assert resize.interpolation == 'bilinear'
    token = MIXERS.build(config_of('cifar100/deit-s_tokenmix_600e').model.mixer)
    assert [mixer.alpha for mixer in token.mixers] == [1.0, 1.0]
    trans = MIXERS.build(config_of('cifar100/deit-s_transmix_600e').model.mixer)
    assert trans.mixers[0].alpha == 0.8


def test_the_second_recipes_differ_by_what_was_released():
    published = config_of('imagenet/r50-rsb160')
    assert INGREDIENTS['train_res'](published) == [160, 160]
    assert INGREDIENTS['test_res'](published) == [224, 224]
    assert published.train_dataloader.repeats == 1
    assert published.model.backbone.drop_path_rate == 0.0
    wide = config_of('cifar100/wrn28-8-400e')
    assert wide.train_cfg.max_epochs == 400
    assert wide.optim_wrapper.optimizer.to_dict() == {'type': 'SGD', 'lr': 0.03, 'momentum': 0.9, 'weight_decay': 1e-3}
    assert config_of('cifar100/rx50-wd5e-4').optim_wrapper.optimizer.weight_decay == 5e-4


# ---- learning-rate curves ----

EPOCH = 4  # iterations of an epoch: schedules follow iterations, whatever their number


def stepped(config, iterations):
    """The learning rate of each iteration, by stepping the schedules that the config builds."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=config.optim_wrapper.optimizer.lr)
    given = config.param_scheduler
    built = [
        PARAM_SCHEDULERS.build(schedule, default_args={'optimizer': optimizer, 'epoch_length': EPOCH})
        for schedule in (given if isinstance(given, list) else [given])
    ]
    seen = []
    for _ in range(iterations):
        seen.append(optimizer.param_groups[0]['lr'])
        optimizer.step()
        for schedule in built:
            schedule.step()
    return seen


# ---- the mix block of AutoMix and SAMix ----

# leaf: the block's first and last learning rate and its momentum; the network's
BLOCKS = {
    'cub200/r18_automix': ((0.01, 5e-4, 0.9), (1e-3, 0, 0.9)),
    'aircraft/rx50_samix_dm': ((0.01, 5e-4, 0.9), (1e-3, 0, 0.9)),
    'tiny-imagenet/r18_automix_dm': ((0.1, 1e-3, 0.9), (0.2, 0, 0.9)),
    'tiny-imagenet/rx50_automix-rsb': ((0.1, 1e-3, 0.9), (0.2, 0, 0.9)),
    'cifar100/wrn28-8_samix': ((0.1, 0, 0.0), (0.1, 0, 0.9)),
    'cifar100/r18_automix': ((0.1, 0, 0.9), (0.1, 0, 0.9)),
    'imagenet/r50_automix': ((0.1, 1e-3, 0.0), (0.1, 0, 0.9)),
    'imagenet/r18_samix': ((0.1, 1e-3, 0.9), (0.1, 0, 0.9)),
    'cifar100/deit-s_automix_200e': ((1e-3, 1e-4, None), (1e-3, 1e-6, None)),
}


@pytest.mark.parametrize('name', BLOCKS)
def test_the_mix_block_is_trained_by_its_own_settings(name):
    """What is built: the groups of the optimiser, and their learning rates over a run."""
    config = resolve(config_of(name), world_size=1)
    with torch.device('meta'):
        model = MODELS.build(config.model)
    ours = {'type': 'openmix_dm.MixOptimWrapper', 'constructor': 'openmix_dm.MixOptimConstructor'}
    optimizer = build_optim_wrapper(model, {**config.optim_wrapper, **ours}).optimizer
    owned = {id(parameter) for parameter in model.mixer.parameters()}
    groups = {id(p) in owned: group for group in optimizer.param_groups for p in group['params']}
    curves = rates(optimizer, config, config.train_cfg.max_epochs * EPOCH)
    for is_block, (first, last, inertia) in zip((True, False), BLOCKS[name], strict=True):
        curve = next(
            each for each, group in zip(curves, optimizer.param_groups, strict=True) if group is groups[is_block]
        )
        assert max(curve) == pytest.approx(first)
        assert curve[-1] == pytest.approx(last, abs=first * 1e-4)
        middle = len(curve) // 2 + (20 * EPOCH // 2 if 'deit' in name else 0)  # of the cosine, after a warm-up
        assert curve[middle] == pytest.approx((first + last) / 2, rel=1e-3)
        assert groups[is_block].get('momentum') == inertia


def rates(optimizer, config, iterations):
    """The learning rates of each group, by stepping the schedules that the config builds."""
    given = config.param_scheduler
    built = [
        PARAM_SCHEDULERS.build(schedule, default_args={'optimizer': optimizer, 'epoch_length': EPOCH})
        for schedule in (given if isinstance(given, list) else [given])
    ]
    seen = [[] for _ in optimizer.param_groups]
    for _ in range(iterations):
        for curve, group in zip(seen, optimizer.param_groups, strict=True):
            curve.append(group['lr'])
        optimizer.step()  # of no gradients
        for schedule in built:
            schedule.step()
    return seen


def cosine(lr, least, share):
    return least + (lr - least) * (1 + math.cos(math.pi * share)) / 2


@pytest.mark.parametrize(
    ('name', 'lr', 'least', 'warmup', 'epochs'),
    [
        ('cifar100/r18', 0.1, 0, 0, 800),
        ('cifar100/wrn28-8-400e', 0.03, 0, 0, 400),
        ('tiny-imagenet/r18', 0.2, 0, 0, 400),
        ('cub200/r18', 1e-3, 0, 0, 200),
        ('imagenet/r50', 0.1, 0, 0, 100),
        ('imagenet/deit-s', 1e-3, 1e-5, 5, 300),
        ('imagenet/r50-rsb', 8e-3, 1e-6, 5, 100),
        ('cifar100/deit-s', 1e-3, 1e-6, 20, 200),
        ('cifar100/deit-s_mix_dm_600e', 1e-3, 1e-6, 20, 600),
    ],
)
def test_learning_rates_follow_their_formula(name, lr, least, warmup, epochs):
    config = resolve(config_of(name), world_size=1)
    curve, risen, total = stepped(config, epochs * EPOCH), warmup * EPOCH, epochs * EPOCH
    assert curve[0] == pytest.approx(lr * 1e-3 if warmup else lr)
    for step in range(1, risen):
        assert curve[step] == pytest.approx(lr * (1e-3 + (1 - 1e-3) * step / (risen - 1)))
    assert curve[risen] == pytest.approx(lr)
    for step in (risen + 1, (risen + total) // 2, total - 2, total - 1):
        expected = cosine(lr, least, (step - risen) / (total - risen))
        assert curve[step] == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_the_schedule_of_semi_supervised_learning():
    config = config_of('_base_/semi')
    config.param_scheduler.end = 1000  # the formula in small: nobody waits for 2 ** 20 steps
    curve = stepped(config, 1000)
    for step in (0, 1, 500, 999):
        assert curve[step] == pytest.approx(0.03 * math.cos(7 * math.pi * step / 16 / 1000))


@pytest.mark.slow
def test_the_schedule_of_semi_supervised_transfer():
    curve = stepped(config_of('_base_/transfer'), 27_000)
    for step, expected in ((0, 1e-3), (5_999, 1e-3), (6_000, 1e-4), (12_000, 1e-5), (24_000, 1e-7), (26_999, 1e-7)):
        assert curve[step] == pytest.approx(expected)


# ---- what is not decayed ----

OTHERS_WITHOUT_DECAY = ['imagenet/swin-t', 'cifar100/convnext-t', 'imagenet/r50-rsb']


@pytest.mark.parametrize(
    'name',
    ['imagenet/deit-s', *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS_WITHOUT_DECAY)],
)
def test_norms_biases_and_tokens_are_not_decayed(name):
    config = config_of(name)
    config.model.data_preprocessor.pop('erasing', None)
    with torch.device('meta'):
        model = MODELS.build(config.model)
    optim = {**config.optim_wrapper, 'type': 'openmix_dm.MixOptimWrapper', 'clip_grad': None}
    if optim['optimizer']['type'] == 'Lamb':
        optim['optimizer'] = {**optim['optimizer'], 'type': 'openmix_dm.Lamb'}
    wrapper = build_optim_wrapper(model, optim)
    decay = {id(p): group['weight_decay'] for group in wrapper.optimizer.param_groups for p in group['params']}
    exempt = ('cls_token', 'pos_embed', 'relative_position_bias_table')
    for key, parameter in model.named_parameters():
        free = parameter.ndim == 1 or key.endswith(exempt)
        expected = 0 if free else config.optim_wrapper.optimizer.weight_decay
        assert decay[id(parameter)] == expected, key
