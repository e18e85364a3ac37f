"""The configs of semi-supervised trainings: the values of the papers, and a step of each method at full size."""

import pytest
import torch
from support.loaded_cells import all_configs, load
from support.semi_steps import METHODS

from openmix_dm.datasets.streams import StreamFacts
from openmix_dm.paper.paper_tables import cells_of
from openmix_dm.registry import MODELS
from openmix_dm.tables.catalogue import read_table
from openmix_dm.tables.model_trial import kinds_of, try_kind

CIFAR = [name for name in all_configs() if name.startswith(('cifar10_semi/', 'cifar100_semi/'))]
LEAVES = [name for name in CIFAR if name.count('_') > 1]


def test_every_cell_from_scratch_has_a_config():
    assert len(LEAVES) == 45
    for name in LEAVES:
        ((table, cell),) = cells_of(name)
        assert table.source == 'Table 7'
        assert cell.protocol == 'ema_best'
        labels = int(name.removesuffix('.py').rsplit('_', 1)[1])
        assert load(name).train_dataloader.dataset.count == labels


def set_up(config):
    """Build a model on no device, with the streams of the config."""
    with torch.device('meta'):
        model = MODELS.build(config.model)
        streams = config.train_dataloader.dataset
        classes = config.model.head.num_classes
        model.setup(StreamFacts(torch.ones(classes, dtype=torch.long), 50000, 1, len(streams.unlabelled_views)))
    return model, streams


def test_a_step_at_full_size():
    """`table.py check` does this to every cell, and tests/tables/test_feasibility.py runs it for all of them."""
    (kind,) = kinds_of(load('cifar10_semi/wrn28-2_flexmatch_250.py'))
    assert try_kind(kind).parameters > 1e6


# method -> (ratio, views of the unlabelled images, where guesses are made, temperature, tau)
TABLE = {
    'pseudolabeling': (1, 1, 'apart', 1.0, 0.95),
    'mixmatch': (1, 2, 'guess', 0.5, 0.95),
    'remixmatch': (1, 3, 'guess', 0.5, 0.95),
    'uda': (7, 2, 'main', 0.4, 0.8),
    'fixmatch': (7, 2, 'main', 1.0, 0.95),
    'flexmatch': (7, 2, 'main', 1.0, 0.95),
}


@pytest.mark.parametrize('method', TABLE)
@pytest.mark.parametrize(('folder', 'count'), [('cifar10_semi/wrn28-2', 250), ('cifar100_semi/wrn28-8', 400)])
def test_the_table_of_methods(folder, count, method):
    config = load(f'{folder}_{method}_{count}.py')
    model, streams = set_up(config)
    labeler = model.labeler
    values = (streams.ratio, len(streams.unlabelled_views), labeler.where, labeler.temperature, labeler.threshold.tau)
    assert values == TABLE[method]
    assert streams.unlabelled == 'all'
    assert config.global_batch_size == 64
    assert config.train_cfg.max_iters == 2**20
    assert config.default_hooks.ema.decay == 0.999


def test_values_of_terms():
    terms = load('cifar10_semi/wrn28-2_mixmatch_250.py').model.terms
    assert (terms.mixed.mixer.alpha, terms.mixed.weight, terms.mixed.ramp.end) == (0.5, 100.0, 0.4)
    terms = load('cifar100_semi/wrn28-8_remixmatch_400.py').model.terms
    assert (terms.mixed.mixer.alpha, terms.mixed.weight, terms.anchor.weight) == (0.75, 1.5, 0.5)
    assert (terms.mixed.ramp.end, terms.anchor.ramp.end, terms.mixed.distance) == (1 / 64, 1 / 64, 'soft')
    mixup, dm = (load(f'cifar10_semi/wrn28-2_fixmatch_{added}_250.py').model.terms.mix for added in ('mixup', 'dm'))
    assert (mixup.eta, mixup.fold) == (0.0, None)
    assert (dm.eta, dm.fold) == (1.0, 'min')
    assert mixup.mixer == dm.mixer == {'type': 'Mixup', 'alpha': 1.0}


def test_decay_and_statistics_belong_to_the_data_set():
    one, two = load('cifar10_semi/wrn28-2.py'), load('cifar100_semi/wrn28-8.py')
    assert one.optim_wrapper.optimizer.weight_decay == 5e-4
    assert two.optim_wrapper.optimizer.weight_decay == 1e-3
    assert two.model.data_preprocessor == load('cifar100/r18.py').model.data_preprocessor
    assert two.train_dataloader.dataset.dataset.type == two.val_dataloader.dataset.type == 'CIFAR100'


def test_the_digits_have_every_method_and_a_table_of_them(root):
    table = read_table(root / 'configs/tables/digits_semi.py')
    sweep = read_table(root / 'configs/tables/digits_semi_sweep.py')
    released = 'fixmatch_dm-released'  # what the paper does not print is in the sweep
    printed = set(METHODS) - {released}
    assert {cell.config for cell in table.cells} == {f'digits_semi/r8_{method}.py' for method in printed}
    of_paper = {name.split('/')[1].split('_', 1)[1].rsplit('_', 1)[0] for name in LEAVES}
    assert printed == of_paper | {'supervised'}
    assert f'digits_semi/r8_{released}.py' in {cell.config for cell in sweep.cells}
