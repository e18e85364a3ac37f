"""Training by iterations: rounds between validations stand for epochs."""

import json
import math
import shutil

import pytest
import torch
from support.semi_steps import FOLDER
from support.short_runs import same

from openmix_dm.commands.test import main as evaluate
from openmix_dm.commands.train import main
from openmix_dm.config.load import load_config
from openmix_dm.config.resolve import resolve
from openmix_dm.engine.optim.schedules import CosineTailLR
from openmix_dm.runs.checkpoints import load_file
from openmix_dm.runs.folder import RunFolder
from openmix_dm.runs.model import open_trained
from openmix_dm.semi import Consistency

CONFIG = FOLDER / 'r8_flexmatch.py'
TINY = (
    'train_cfg.max_iters=7',
    'train_cfg.val_interval=3',
    'global_batch_size=8',
    'train_dataloader.dataset.ratio=1',
    'model.backbone.depth=8',
    'default_hooks.records.interval=2',
)


def run(folder, *options, arguments=(), config=CONFIG):
    return main([str(config), '--work-dir', str(folder), *arguments, '--cfg-options', *TINY, *options])


@pytest.fixture(scope='module')
def finished(tmp_path_factory):
    """A run of seven iterations, to be looked at."""
    folder = tmp_path_factory.mktemp('semi') / 'run'
    assert run(folder) == 0
    return folder


def test_rounds_records_and_final_numbers(finished):
    folder = RunFolder(finished)
    assert [(r['iter'], r['epoch']) for r in folder.records('val')] == [(3, 1), (6, 2), (7, 3)]  # the last is shorter
    assert [r['iter'] for r in folder.records('train')] == [2, 3, 4, 6, 7]
    last = folder.records('train')[-1]
    assert {'mask', 'threshold_0', 'threshold_9', 'pseudo_top1', 'pseudo_top1_kept', 'term_unlabelled'} <= set(last)
    assert {'top1', 'ema_top1'} <= set(folder.records('val')[-1])
    assert {'best', 'last', 'median_last10', 'ema_best', 'ema_last'} <= set(folder.read()['final'])
    assert folder.read()['state'] == 'done'
    assert {path.name for path in finished.glob('iter_*.pth')} == {'iter_6.pth', 'iter_7.pth'}
    assert load_file(finished / 'iter_7.pth')['meta']['epoch'] == 3


def test_a_checkpoint_is_evaluated_without_its_streams(finished):
    """The records of FlexMatch have the size of a stream that a test does not have."""
    for ema in (False, True):
        model = open_trained(finished, ema=ema).model
        saved = load_file(finished / 'iter_7.pth')['ema_state_dict' if ema else 'state_dict']
        for name, value in model.backbone.state_dict(prefix='backbone.').items():
            assert torch.equal(value, saved[name])


def test_the_average_is_evaluated_to_the_bit(finished, tmp_path):
    """What validation said of the average is what the exported file says."""
    out = tmp_path / 'out.json'
    assert evaluate([str(CONFIG), str(finished / 'iter_7.pth'), '--ema', '--out', str(out)]) == 0
    assert json.loads(out.read_text())['top1'] == RunFolder(finished).records('val')[-1]['ema_top1']
    alone = load_file(finished / 'ema.pth')['state_dict']
    assert same(alone, load_file(finished / 'iter_7.pth')['ema_state_dict'])


def test_statistics_of_the_average_are_those_of_the_moment(finished):
    state = load_file(finished / 'iter_7.pth')
    for name, value in state['ema_state_dict'].items():
        live = state['state_dict'][name]
        if 'running' in name:
            assert torch.equal(value, live)
        elif name.endswith('weight'):
            assert not torch.equal(value, live)


def test_norms_and_biases_do_not_decay(finished):
    groups = load_file(finished / 'iter_7.pth')['optimizer']['param_groups']
    decay = {group['weight_decay']: len(group['params']) for group in groups}
    assert decay.keys() == {0.0, 5e-4}


def test_a_finished_run_is_left_as_it_is(finished, tmp_path):
    folder = tmp_path / 'run'
    shutil.copytree(finished, folder)
    before, state = RunFolder(folder).records(), load_file(folder / 'iter_7.pth')
    assert run(folder, arguments=('--resume',)) == 0
    assert RunFolder(folder).records() == before
    assert same(load_file(folder / 'iter_7.pth'), state)


@pytest.mark.parametrize('progress', [0.0, 0.3, 1.0])
def test_the_rate_follows_seven_sixteenths_of_a_cosine(progress):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.03)
    schedule = CosineTailLR(optimizer, end=1000)
    for _ in range(round(999 * progress)):
        optimizer.step()
        schedule.step()
    expected = 0.03 * math.cos(7 * math.pi * round(999 * progress) / 16000)
    assert optimizer.param_groups[0]['lr'] == pytest.approx(expected)
    assert math.cos(7 * math.pi / 16) == pytest.approx(0.1951, abs=1e-4)


def test_what_is_derived():
    config = load_config(CONFIG)
    derived = resolve(config, world_size=2)
    assert derived.param_scheduler.end == config.train_cfg.max_iters
    assert derived.param_scheduler.by_epoch is False
    assert derived.train_dataloader.batch_size == config.global_batch_size // 2
    assert derived.train_dataloader.dataset.split_seed == 0
    config.randomness.seed = 7
    assert resolve(config, world_size=1).train_dataloader.dataset.split_seed == 7


@pytest.mark.parametrize(
    ('options', 'words'),
    [
        (('param_scheduler.by_epoch=True',), 'by_epoch must be False'),
        (('optim_wrapper.accumulative_counts=2', 'train_cfg.max_iters=8'), 'val_interval=3 is not a multiple of 2'),
        (('train_cfg.max_iters=0',), 'at least 1'),
        (('train_dataloader.sampler.type=TrainBatches',), 'StreamBatches'),
        (('model.terms.unlabelled.type=Consistancy',), 'Consistency'),
        (('model.terms.unlabelled.wieght=2',), 'weight'),
        (('model.passes.main.statistic=False',), 'statistics'),
        (('model.labeler.threshold.tau=2.0',), 'tau'),
        (('model.labeler.views=(0, 5)',), 'view 5 of the unlabelled stream'),
        (('train_dataloader.dataset.unlabelled=None',), 'needs an unlabelled stream'),
        (('model.terms.unlabelled.where=mian',), "no pass 'mian'"),
        (('train_dataloader.dataset.ratio=0.3',), 'whole number'),
        (('train_dataloader.dataset.count=1430',), 'ask for fewer labels'),
        (
            ("train_dataloader.dataset=dict(_delete_=True, type='Digits', split='train')",),
            'SemiClassifier takes Streams',
        ),
    ],
)
def test_mistakes_are_named_before_training(tmp_path, capsys, options, words):
    code = run(tmp_path / 'run', *options)
    said = capsys.readouterr().err
    assert code == 2, said
    assert words in said
    assert not (tmp_path / 'run' / 'metrics.jsonl').exists()


def test_a_loss_that_is_not_finite_names_the_images(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Consistency, '__init__', init_without_weight(Consistency.__init__))
    assert run(tmp_path / 'run') == 5
    said = json.loads((tmp_path / 'run' / 'nonfinite_rank0.json').read_text())
    assert said['iter'] == 0
    assert len(said['labelled']) == len(said['unlabelled']) == 8
    assert said['losses']['loss_unlabelled'] == 'nan'
    assert said['losses']['loss_labelled'] != 'nan'
    assert 'Consistency' in said['terms']


def init_without_weight(init):
    def changed(term, *args, **options):
        init(term, *args, **options)
        term.weight = float('nan')

    return changed
