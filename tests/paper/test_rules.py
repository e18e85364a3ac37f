"""Every config has the values of the paper's rules, and a wrong one in any file is found."""

import re
import shutil

import pytest
from support.loaded_cells import CONFIGS, all_configs, load, read_from

from openmix_dm.paper.naming import config_of
from openmix_dm.paper.paper_tables import is_semi, paper
from openmix_dm.paper.rules import eta, expected_semi_values, expected_values
from openmix_dm.tables.config_values import resolved_values

CELLS: dict[str, list[dict]] = {}
for table in paper()['tables']:
    for printed in table['cells']:
        if printed['value'] is not None:
            CELLS.setdefault(config_of(printed), []).append(printed)


def differences(config, cells):
    values = resolved_values(config)
    return [
        (name, values[name], value)
        for printed in cells
        for name, value in (expected_semi_values if is_semi(printed) else expected_values)(printed).items()
        if values[name] != value
    ]


def test_every_config_has_the_values_of_its_cells():
    for name, cells in CELLS.items():
        assert differences(load(name), cells) == [], name


def test_the_rule_of_eta_word_by_word():
    """B.3: 0.1 static, 1 dynamic; on Tiny-ImageNet and fine-grained sets 1 for ResNet-18, and 0.1 for ResNeXt-50."""
    for dataset, backbone, policy, expected in (
        ('CIFAR-100', 'WRN-28-8', 'mixup', 0.1),
        ('ImageNet-1k', 'ResNet-50', 'saliencymix', 0.1),
        ('ImageNet-1k', 'DeiT-S', 'samix', 1.0),
        ('Tiny-ImageNet', 'ResNet-18', 'cutmix', 1.0),
        ('Tiny-ImageNet', 'ResNeXt-50-32x4d', 'cutmix', 0.1),
        ('CUB-200-2011', 'ResNeXt-50-32x4d', 'automix', 1.0),
        ('FGVC-Aircraft', 'ResNet-18', 'manifoldmix', 1.0),
    ):
        assert eta({'dataset': dataset, 'backbone': backbone}, policy) == expected
    with pytest.raises(ValueError, match='no eta for Stanford-Cars'):
        eta({'dataset': 'Stanford-Cars', 'backbone': 'ResNet-50'}, 'mixup')


@pytest.fixture(scope='module')
def copied(tmp_path_factory):
    """A copy of all configs that may be spoilt, and what has been read of it."""
    folder = tmp_path_factory.mktemp('copy') / 'configs'
    shutil.copytree(CONFIGS, folder)
    return folder, {}


# What is changed -> into what, and in how many files at least.
MUTATIONS = {
    r'\beta=[\d.]+': ('eta=0.37', 187),
    r'for eta in \(1\.0, 0\.1': ('for eta in (0.1, 0.1', 4),
    r'\bt=[\d.]+': ('t=0.37', 10),
    r'\bxi=[\d.]+': ('xi=0.37', 10),
}
SLOW_MUTATIONS = {
    r'\balpha=[\d.]+': ('alpha=0.37', 276),
    r'\bmax_epochs=\d+': ('max_epochs=37', 40),
    r'\bfraction=[\d.]+': ('fraction=0.37', 27),
}


@pytest.mark.parametrize(
    'pattern', [*MUTATIONS, *(pytest.param(pattern, marks=pytest.mark.slow) for pattern in SLOW_MUTATIONS)]
)
def test_a_wrong_value_in_any_file_is_found(copied, pattern):
    folder, read = copied
    (wrong, least), changed = (MUTATIONS | SLOW_MUTATIONS)[pattern], 0
    for name in all_configs():
        path, cells = folder / name, CELLS.get(name)
        text = path.read_text()
        spoilt, count = re.subn(pattern, wrong, text, count=1)
        if not count or not cells:
            continue
        others = {key: value for key, value in read.items() if key != str(path.resolve())}
        path.write_text(spoilt)
        try:
            assert differences(read_from(path, others), cells), f'{spoilt} passes as {name}'
        finally:
            path.write_text(text)
        read |= {key: value for key, value in others.items() if key != str(path.resolve())}
        changed += 1
    assert changed >= least


@pytest.mark.parametrize(
    ('base', 'old', 'new', 'leaf'),
    [
        ('cifar100_sgd', 'lr=0.1', 'lr=0.2', 'cifar100/rx50_fmix_dm'),
        ('tiny-imagenet_sgd', 'weight_decay=1e-4', 'weight_decay=5e-4', 'tiny-imagenet/r18_samix'),
        ('finetune', 'global_batch_size = 16', 'global_batch_size = 32', 'aircraft/rx50_cutmix_dm'),
        ('imagenet_pytorch', 'max_epochs=100', 'max_epochs=300', 'imagenet/r34_vanilla'),
        ('imagenet_deit', "type='AdamW'", "type='Adam'", 'imagenet/swin-t_mix_dm'),
        ('imagenet_rsb', "'RandomResizedCrop', size=224", "'RandomResizedCrop', size=160", 'imagenet/r50-rsb_mix_mbce'),
        ('cifar100_adamw', 'weight_decay=0.05', 'weight_decay=0.1', 'cifar100/convnext-t_fmix_600e'),
    ],
)
def test_a_wrong_value_in_a_recipe_is_found(copied, base, old, new, leaf):
    folder, _ = copied
    path = folder / '_base_' / f'{base}.py'
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    try:
        assert len(differences(read_from(folder / f'{leaf}.py', {}), CELLS[f'{leaf}.py'])) > 0
    finally:
        path.write_text(text)
