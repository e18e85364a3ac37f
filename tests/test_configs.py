"""Every config of the repository loads by mmengine alone, validates, and builds a model that learns."""

import re
from contextlib import contextmanager

import pytest
import torch
from conftest import ROOT
from mmengine.config import Config
from support.loaded_cells import CONFIGS, all_configs, load

from openmix_dm.config import load as configs
from openmix_dm.config.check import validate
from openmix_dm.config.resolve import resolve
from openmix_dm.paper.paper_tables import cells_of, paper_tables
from openmix_dm.registry import MODELS
from openmix_dm.tables.catalogue import all_tables
from openmix_dm.tables.config_values import resolution

NAMES = all_configs()
FOLDERS = sorted({name.split('/')[0] for name in NAMES})
OF_THE_PAPER = {str(cell.config).split('/')[0] for table in paper_tables() for cell in table.runnable()}
SUPERVISED = sorted(folder for folder in OF_THE_PAPER if not folder.endswith(('_semi', '_transfer')))
FIGURES = {
    str(cell.config): table.source
    for table in all_tables().values()
    if table.source.startswith('Figure')
    for cell in table.cells
}
BACKBONE_FILES = [name for name in NAMES if '_' not in name.split('/')[1]]
# Of the digits every mixer with DM(CE), and every loss; a few of the others: `table.py check` tries all of them.
SAMPLES = [name for name in NAMES if re.match(r'digits/(.*_dm|r8_mixup.*)\.py', name)] + [
    'cifar100/r18_puzzlemix_dm.py',
    'imagenet/r50_manifoldmix_dm.py',
]


@contextmanager
def naming(name):
    """Say which file of many a failure is about."""
    try:
        yield
    except Exception as error:
        error.add_note(f'in configs/{name}')
        raise


def names_in(folder):
    return [name for name in NAMES if name.startswith(f'{folder}/')]


@pytest.mark.parametrize('folder', FOLDERS)
def test_configs_load_and_validate(folder):
    for name in names_in(folder):
        with naming(name):
            config = load(name)
            validate(config)
            if name in BACKBONE_FILES:  # recipes and data: leaves do not touch what is derived from these
                resolve(config, world_size=1)


@pytest.mark.slow
@pytest.mark.parametrize('folder', FOLDERS)
def test_mmengine_alone_reads_the_same(folder):
    for name in names_in(folder):
        with naming(name):
            alone = Config.fromfile(CONFIGS / name).to_dict()
            assert alone == load(name).to_dict()
            assert alone == configs.load_config(CONFIGS / name).to_dict()


@pytest.mark.parametrize('name', SAMPLES)
def test_a_model_learns(name):
    config = load(name)
    size = resolution(config, 'train')
    with torch.device('meta'):
        model = MODELS.build(config.model)
        inputs, labels = torch.empty(4, 3, size, size), torch.empty(4, dtype=torch.long)
    losses = model(inputs, labels, mode='loss')
    sum(losses.values()).backward()
    left = {key for key, parameter in model.named_parameters() if parameter.requires_grad and parameter.grad is None}
    assert not left or (model.mixer.rests and all(key.startswith('mixer.') for key in left))


@pytest.mark.parametrize('folder', FOLDERS)
def test_a_leaf_is_short_and_says_what_it_is(folder):
    for name in names_in(folder):
        lines = (CONFIGS / name).read_text().splitlines()
        assert lines[0].startswith('# '), name
        code = [line for line in lines if line.strip() and not line.startswith('#')]
        assert len(code) <= (10 if name in BACKBONE_FILES else 8), name
        assert code[0].startswith('_base_ = '), name


@pytest.mark.parametrize('folder', FOLDERS)
def test_a_config_belongs_to_a_cell_or_says_what_it_is_for(folder):
    for name in names_in(folder):
        with naming(name):
            check_first_line(name)


def check_first_line(name):
    first = (CONFIGS / name).read_text().splitlines()[0]
    cells = cells_of(name)
    if name.split('/')[0] not in OF_THE_PAPER:  # experiments of our own, which claim no number of the paper
        assert not first.startswith('# Table')
        return
    if not cells and name in FIGURES:  # a figure without a number for it
        assert first.startswith(f'# {FIGURES[name]}, ')
        assert 'not printed' in first
        return
    if not cells and name not in BACKBONE_FILES:  # mixers that the paper does not have
        assert first.startswith('# In no table of the paper: ')
        assert re.search(r'\bno number printed\b|\bprinted: [\d.]+', (CONFIGS / name).read_text())
        return
    if not cells:
        assert re.search(r'; the leaves choose |^# To inherit from:', first)
        return
    for table, cell in cells:
        number = table.source.removeprefix('Table ')
        assert re.search(rf'^# Tables? .*\b{number}\b', first), f'{first} does not name {table.source}'
        printed = f'{cell.printed:.2f}' if cell.metric in ('top1', 'fgsm') else f'{cell.printed:g}'
        assert re.search(rf'\b{re.escape(printed)}\b', first), f'{first} does not say {printed}'


@pytest.mark.parametrize('folder', SUPERVISED)
def test_inheritance_is_real(folder):
    """A leaf derives from a file of its own folder, a loss from the same without it; each changes something."""
    for name in names_in(folder):
        with naming(name):
            check_base(name)


def check_base(name):
    text = (CONFIGS / name).read_text()
    (base,) = re.findall(r"^_base_ = '(.*)'$", text, re.MULTILINE)
    if name in BACKBONE_FILES:
        assert base.startswith('../_base_/') or base in (file.split('/')[1] for file in BACKBONE_FILES)
        return
    assert (CONFIGS / name).with_name(base).is_file()
    stem = name.split('/')[1].removesuffix('.py')
    mixed = re.search(r'_(dm|mbce|mbce2|dmbce)\b', stem)
    if name in FIGURES and not cells_of(name):  # the same on another backbone
        assert cells_of(f'{name.split("/")[0]}/{base}')
        assert base.split('_')[1:] == f'{stem}.py'.split('_')[1:]
    elif mixed and not stem.endswith(('pct', '400e', '600e')):
        assert base.removesuffix('.py') == stem.replace(mixed.group(), '', 1)
    own = load(name).to_dict()
    assert own != load(f'{name.split("/")[0]}/{base}').to_dict() or '_vanilla' in stem


def test_the_new_experiment_of_the_readme(tmp_path):
    text = (CONFIGS / 'README.md').read_text()
    (code,) = re.findall(r'```python\n(.*?)```', text, flags=re.DOTALL)
    assert len(code.splitlines()) == 5
    (base,) = re.findall(r"_base_ = '(\.\./.*)'", code)
    path = tmp_path / 'mine.py'
    path.write_text(code.replace(base, str(CONFIGS / 'imagenet' / base)))
    config = configs.load_config(path)
    validate(config)
    assert config.model.mixer.to_dict() == {'type': 'CutMix', 'alpha': 1.0}
    assert config.model.head.loss.to_dict() == {'type': 'DecoupledCE', 'eta': 0.5}
    assert config.train_cfg.max_epochs == 300


def test_the_digits_have_every_loss():
    for mixer in ('vanilla', 'mixup', 'cutmix'):
        for loss in ('', '_dm', '_mbce', '_mbce2', '_dmbce'):
            assert f'digits/r8_{mixer}{loss}.py' in NAMES


def test_the_papers_values_of_the_imagenet_cell():
    config = configs.load_config(ROOT / 'configs/imagenet/r50_mixup_dm.py')
    assert config.model.mixer.to_dict() == {'type': 'Mixup', 'alpha': 0.2}
    assert config.model.head.loss.to_dict() == {'type': 'DecoupledCE', 'eta': 0.1}
    assert config.global_batch_size == 256
    assert config.train_cfg.max_epochs == 100
    assert config.optim_wrapper.optimizer.to_dict() == {'type': 'SGD', 'lr': 0.1, 'momentum': 0.9, 'weight_decay': 1e-4}
