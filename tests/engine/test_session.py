"""The training command, in this process: what a run leaves in its folder."""

import json
import shlex

import pytest
import torch
from mmengine.config import Config

from openmix_dm.commands.test import main as evaluate
from openmix_dm.commands.train import main
from openmix_dm.engine.session import accuracy_words, closing_words
from openmix_dm.engine.train_loops import EpochTrainLoop
from openmix_dm.runs.checkpoints import load_file
from openmix_dm.runs.folder import RunFolder

SMALL = ['train_cfg.max_epochs=2', 'global_batch_size=400', 'default_hooks.records.interval=2']


def train(config, folder, *more, options=()):
    return main([str(config), '--work-dir', str(folder), *more, '--cfg-options', *SMALL, *options])


@pytest.fixture
def config(root):
    return root / 'configs' / 'digits' / 'r8_mixup_dm.py'


@pytest.fixture(scope='module')
def finished(tmp_path_factory):
    from conftest import ROOT

    folder = tmp_path_factory.mktemp('run') / 'seed0'
    assert train(ROOT / 'configs' / 'digits' / 'r8_mixup_dm.py', folder) == 0
    return folder


def test_the_folder_of_a_run(finished):
    names = {path.name for path in finished.iterdir()}
    assert names == {
        'run.json', 'metrics.jsonl', 'config.py', 'train.log', 'tensorboard', 'checkpoints.json', 'epoch_1.pth',
        'epoch_2.pth',
    }  # fmt: skip


def test_metrics_are_flat_strict_json(finished):
    records = [json.loads(line, parse_constant=pytest.fail) for line in (finished / 'metrics.jsonl').open()]
    kinds = [(record['kind'], record['iter'], record['epoch']) for record in records]
    assert kinds == [
        ('train', 2, 1), ('train', 3, 1), ('val', 3, 1), ('train', 4, 2), ('train', 6, 2), ('val', 6, 2),
    ]  # fmt: skip
    for record in records:
        assert not any(isinstance(value, dict | list) for value in record.values())
    assert {'lr', 'loss', 'loss_cls', 'images_per_s', 'memory_mb'} <= set(records[0])
    assert {'ms_data', 'ms_mix', 'ms_forward', 'ms_backward'} <= set(records[0])
    assert 0 <= records[-1]['top1'] <= records[-1]['top5'] <= 100
    assert records[0]['lr'] > records[-2]['lr']


def test_run_json_says_how_it_went(finished):
    run = RunFolder(finished).read()
    assert run['state'] == 'done'
    assert run['seed'] == 0
    assert set(run['final']) == {'median_last10', 'best', 'last'}
    assert run['final']['last'] == pytest.approx(RunFolder(finished).records('val')[-1]['top1'], abs=1e-3)
    for key in ('config_hash', 'version', 'world_size', 'hardware', 'start', 'end', 'hours', 'images_per_s'):
        assert run[key] is not None


def test_tensorboard_holds_the_same_numbers(finished):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    board = EventAccumulator(str(finished / 'tensorboard'))
    board.Reload()
    shown = [(event.step, event.value) for event in board.Scalars('val/top1')]
    recorded = [(record['iter'], record['top1']) for record in RunFolder(finished).records('val')]
    assert shown == [(step, pytest.approx(value, abs=1e-4)) for step, value in recorded]


def test_testing_the_checkpoint_gives_the_last_validation(finished, config, tmp_path):
    out = tmp_path / 'result.json'
    assert evaluate([str(config), str(finished / 'epoch_2.pth'), '--out', str(out)]) == 0
    assert json.loads(out.read_text())['top1'] == pytest.approx(RunFolder(finished).records('val')[-1]['top1'])


def test_a_used_folder_is_refused_and_untouched(finished, config, capsys):
    before = (finished / 'metrics.jsonl').read_text()
    assert train(config, finished) == 2
    assert '--resume' in capsys.readouterr().err
    assert (finished / 'metrics.jsonl').read_text() == before


def test_the_expanded_config_trains_again_to_the_same_weights(finished, tmp_path):
    assert main([str(finished / 'config.py'), '--work-dir', str(tmp_path / 'again')]) == 0
    one, other = (load_file(folder / 'epoch_2.pth')['state_dict'] for folder in (finished, tmp_path / 'again'))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_seeds_differ(finished, config, tmp_path):
    assert train(config, tmp_path / 'seed1', '--seed', '1') == 0
    one, other = (load_file(folder / 'epoch_2.pth')['state_dict'] for folder in (finished, tmp_path / 'seed1'))
    assert not torch.equal(one['head.fc.weight'], other['head.fc.weight'])
    assert RunFolder(tmp_path / 'seed1').read()['seed'] == 1


def test_resume_goes_on_and_ends_like_an_unbroken_run(finished, config, tmp_path, monkeypatch):
    def crash(self):
        raise RuntimeError('power cut')

    with monkeypatch.context() as patch:  # after the checkpoint of epoch 1
        run_epoch = EpochTrainLoop.run_epoch
        patch.setattr(EpochTrainLoop, 'run_epoch', lambda loop: crash(loop) if loop._epoch else run_epoch(loop))
        with pytest.raises(RuntimeError, match='power cut'):
            train(config, tmp_path / 'run')
    assert RunFolder(tmp_path / 'run').read()['state'].startswith('failed: RuntimeError')
    assert train(config, tmp_path / 'run', '--resume', 'auto') == 0
    one, other = (load_file(folder / 'epoch_2.pth') for folder in (finished, tmp_path / 'run'))
    assert all(torch.equal(one['state_dict'][name], other['state_dict'][name]) for name in one['state_dict'])
    assert [r['iter'] for r in RunFolder(tmp_path / 'run').records('val')] == [3, 6]


def test_the_closing_line_says_the_median_only_of_a_long_run():
    final = {'last': 66.75, 'best': 70.0, 'median_last10': 46.75}
    assert accuracy_words(final, 3) == 'top-1 66.75 % (best 70.00 %)'
    assert accuracy_words(final, 20) == 'top-1 66.75 % (best 70.00 %, median of the last 10 46.75 %)'


def test_what_to_type_next_names_the_file_that_imports_what_the_run_needs(tmp_path, monkeypatch, finished):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'my config.py').write_text("import my_losses\n_base_ = 'openmix_dm::digits/r8_mixup_dm.py'\n")
    given = Config({}, filename='my config.py')
    said = closing_words(given, RunFolder(finished), ["_note='a b'"])
    line = next(line for line in said.splitlines() if line.startswith('next: '))
    config, checkpoint, *rest = shlex.split(line)[-4:]
    assert (config, checkpoint, rest) == (
        'my config.py',
        str(finished / 'epoch_2.pth'),
        ['--cfg-options', "_note='a b'"],
    )
    (tmp_path / 'my config.py').write_text("_base_ = 'openmix_dm::digits/r8_mixup_dm.py'\n")
    assert f'{finished}/config.py {finished}/epoch_2.pth\n' in closing_words(given, RunFolder(finished))


def test_who_stops_a_run_from_the_keyboard_is_told_how_it_goes_on(config, tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        patch.setattr(EpochTrainLoop, 'run_iter', interrupted)
        assert train(config, tmp_path / 'run') == 130
    assert f'--work-dir {tmp_path / "run"} --resume --cfg-options {" ".join(SMALL)}' in capsys.readouterr().err


def interrupted(*_):
    raise KeyboardInterrupt


def test_resume_in_an_empty_folder_starts(config, tmp_path):
    assert train(config, tmp_path / 'run', '--resume', options=['train_cfg.max_epochs=1']) == 0
    assert (tmp_path / 'run' / 'epoch_1.pth').exists()


def test_failures_have_exit_codes_and_leave_no_run(root, config, tmp_path, capsys):
    folder = tmp_path / 'run'
    assert train(config, folder, options=['model.mixer.alpha=0']) == 2
    assert train(config, folder, options=['model.backbone.depth=9']) == 2
    assert train(config, folder, options=['model.head.num_classes=3']) == 2
    assert train(config, folder, options=['optim_wrapper.optimizer.lr=fast']) == 2
    assert main([str(root / 'configs/imagenet/r50_mixup_dm.py'), '--work-dir', str(folder)]) == 3
    assert ' data imagenet --root ' in capsys.readouterr().err
    assert evaluate([str(config), str(tmp_path / 'none.pth')]) == 4
    assert not (folder / 'run.json').exists()


def test_amp_trains_and_is_recorded(config, tmp_path):
    options = ['train_cfg.max_epochs=1', 'global_batch_size=700', 'train_dataloader.dataset.size=8']
    assert train(config, tmp_path / 'run', '--amp', options=options) == 0
    assert "'amp': 'bf16'" in (tmp_path / 'run' / 'config.py').read_text()
