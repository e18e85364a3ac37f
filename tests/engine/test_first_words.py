"""Before its first iteration a run says what it is about to do, on the screen and in its log."""

from types import SimpleNamespace

import pytest
import torch
from mmengine.config import Config
from support.short_runs import CONFIG, SIZE

from openmix_dm.commands.test import main as evaluate
from openmix_dm.commands.train import main
from openmix_dm.config.load import load_config
from openmix_dm.config.resolve import resolve
from openmix_dm.engine.build import build_runner
from openmix_dm.engine.first_words import (
    FirstWords,
    batch_words,
    data_words,
    device_words,
    length_words,
    model_words,
    say,
)
from openmix_dm.engine.train_loops import EpochTrainLoop

OPTIONS = ('train_cfg.max_epochs=2', 'global_batch_size=700', *SIZE)  # 2 iterations an epoch


def stopped_before(iteration, folder, *arguments):
    """Train until somebody presses Ctrl-C before an iteration."""
    run_iter = EpochTrainLoop.run_iter

    def stop(loop, idx, batch):
        if loop._iter == iteration:
            raise KeyboardInterrupt
        run_iter(loop, idx, batch)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EpochTrainLoop, 'run_iter', stop)
        return main([str(CONFIG), '--work-dir', str(folder), *arguments, '--cfg-options', *OPTIONS])


@pytest.fixture(scope='module')
def run(tmp_path_factory):
    """A run that was stopped in its second epoch."""
    folder = tmp_path_factory.mktemp('words') / 'a run'
    assert stopped_before(3, folder) == 130
    return folder


def lines_of(text):
    """The first words by what they are about: those of the last start."""
    lines = text.splitlines()
    start = max(place for place, line in enumerate(lines) if line.startswith('device    '))
    found = (line.partition(' ') if not line.startswith('go on') else ('go on', '', line[5:]) for line in lines[start:])
    return {label: rest.strip() for label, _, rest in found}


def test_the_words_are_in_the_log_in_their_order(run):
    said = lines_of((run / 'train.log').read_text())
    wanted = ['device', 'data', 'model', 'mixer', 'loss', 'batch', 'length', 'folder', 'stop', 'go on']
    assert [label for label in said if label in wanted] == wanted
    assert said['data'] == 'Digits: 1,437 images for training, 360 images for validation, 10 classes'
    assert said['model'] == 'ThinResNet(depth=8): 78,042 parameters'
    assert said['mixer'].startswith('Mixup(alpha=0.2')
    assert said['loss'].startswith('DecoupledCE(eta=0.1')
    assert said['batch'] == '700 images, on one rank'
    assert said['length'] == '2 epochs of 2 iterations'
    assert said['folder'] == str(run)


def test_a_run_that_goes_on_says_from_where(run, capsys):
    assert stopped_before(2, run, '--resume') == 130
    said = lines_of(capsys.readouterr().err)
    assert said['resumed'] == 'from epoch_1.pth: 2 of 4 iterations are done, it goes on in epoch 2'


def test_resume_without_a_checkpoint_says_that_it_starts(tmp_path, capsys):
    assert stopped_before(0, tmp_path / 'run', '--resume') == 130
    assert lines_of(capsys.readouterr().err)['resumed'].startswith('from nothing')


def test_a_test_says_device_data_model_and_weights_beside_its_result(run, capsys):
    assert evaluate([str(CONFIG), str(run), '--cfg-options', SIZE[1]]) == 0
    out, err = capsys.readouterr()
    said = lines_of(err)
    assert set(said) == {'device', 'data', 'model', 'weights'}
    assert said['data'] == 'Digits: 360 images for the test, 10 classes'
    assert said['weights'] == str(run / 'epoch_1.pth')
    assert out.startswith('top1 ')


def test_semi_supervised_methods_name_both_streams_and_their_terms(root, tmp_path):
    config = resolve(load_config(root / 'configs/digits_semi/r8_fixmatch_dm.py'), 1)
    config.work_dir = str(tmp_path)
    runner = build_runner(config)
    assert data_words(runner.loaders, runner.bare_model).startswith('Digits: 40 labelled and 1,437 unlabelled images')
    assert 'loss' in model_words(runner.bare_model, config)
    assert 'mixer' not in model_words(runner.bare_model, config)
    assert 'with a label, and 3 without for each' in batch_words(config, runner.loaders['train'].dataset, 1)
    assert 'iterations, a validation after every' in length_words(runner)
    runner.close()


@pytest.mark.parametrize(
    ('ranks', 'accumulated', 'said'),
    [
        (1, 1, '64 images, on one rank'),
        (4, 1, '64 images: 16 on each of 4 ranks'),
        (1, 2, '64 images: 32 in each of 2 accumulated steps'),
        (2, 4, '64 images: 8 on each of 2 ranks, in each of 4 accumulated steps'),
    ],
)
def test_how_a_global_batch_comes_about(ranks, accumulated, said):
    config = Config(
        {
            'global_batch_size': 64,
            'optim_wrapper': {'accumulative_counts': accumulated},
            'train_dataloader': {'batch_size': 64 // ranks // accumulated},
        }
    )
    assert batch_words(config, object(), ranks) == said


def test_gpus_are_counted_and_named(monkeypatch):
    monkeypatch.setattr(torch.cuda, 'get_device_name', lambda device: 'A100')
    model = SimpleNamespace(parameters=lambda: iter([SimpleNamespace(device=torch.device('cuda', 1))]))
    config = Config({'optim_wrapper': {'amp': 'bf16'}})
    assert device_words(model, config, 2) == '2 x A100, mixed precision (bf16)'


def test_names_of_files_cannot_move_the_cursor(capsys):
    assert say({'folder': 'a\x1b[2Jb'}) == 'folder    a\\x1b[2Jb'
    assert '\x1b' not in capsys.readouterr().err


def test_other_ranks_say_nothing(capsys):
    FirstWords({'paper': 'a number'}).after_load(SimpleNamespace(rank=1))
    assert capsys.readouterr() == ('', '')
