"""Records in TensorBoard, W&B (offline) and MLflow (sqlite): the curves are there, and a resumed run continues them."""

import importlib.util
import json
import struct
import time
from pathlib import Path

import mlflow
import pytest
from support.short_runs import PowerCut, power_cut, train
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from openmix_dm.engine.trackers import ContinuedTensorboard
from openmix_dm.runs.folder import RunFolder


def broken_run(folder, monkeypatch, *options):
    """A run that is killed in its second epoch, and goes on."""
    with power_cut(monkeypatch, 10), pytest.raises(PowerCut):
        train(folder, *options)
    assert train(folder, *options, arguments=['--resume']) == 0


def recorded(folder, name):
    kind, _, value = name.partition('/')
    return {record['iter']: pytest.approx(record[value]) for record in RunFolder(folder).records(kind)}


def backend(**settings):
    config = {'vis_backends': [settings]}
    return f'visualizer={config}'


def test_tensorboard_is_one_curve(tmp_path, monkeypatch):
    broken_run(tmp_path / 'run', monkeypatch)
    board = EventAccumulator(str(tmp_path / 'run' / 'tensorboard')).Reload()
    for name in ('train/loss', 'val/top1'):
        assert {event.step: event.value for event in board.Scalars(name)} == recorded(tmp_path / 'run', name)


def test_tensorboard_reads_starts_in_their_order_whatever_the_clock_says(tmp_path, monkeypatch):
    """Starts within a second, and on a node whose clock is an hour late."""
    for start, clock in enumerate([2_000_000_000.5] * 12 + [1_999_996_400.0]):
        monkeypatch.setattr(time, 'time', lambda clock=clock: clock)
        backend = ContinuedTensorboard(str(tmp_path))
        backend.continue_from(start)
        for step in (start + 1, start + 2):
            backend.add_scalar('train/loss', float(start), step)
        backend.close()
    board = EventAccumulator(str(tmp_path), size_guidance={'scalars': 0}).Reload()
    points = [(event.step, event.value) for event in board.Scalars('train/loss')]
    assert points == [*((start + 1, float(start)) for start in range(13)), (14, 12.0)]


def test_other_backends_by_config(tmp_path):
    options = ("visualizer=dict(vis_backends=[dict(type='LocalVisBackend'),dict(type='ContinuedTensorboard')])",)
    assert train(tmp_path / 'run', *options) == 0
    (file,) = (tmp_path / 'run' / 'vis_data').rglob('scalars.json')
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    curve = {row['step']: row['train/loss'] for row in rows if 'train/loss' in row}
    assert curve == recorded(tmp_path / 'run', 'train/loss')
    assert (tmp_path / 'run' / 'tensorboard').is_dir()


def test_mlflow_has_one_run_with_both_curves(tmp_path, monkeypatch):
    uri = f'sqlite:///{tmp_path}/mlflow.db'
    options = (
        f"visualizer=dict(vis_backends=[dict(type='MLflowVisBackend', exp_name='digits', tracking_uri='{uri}')])",
    )
    broken_run(tmp_path / 'run', monkeypatch, *options)
    client = mlflow.MlflowClient(uri)
    (run,) = client.search_runs([client.get_experiment_by_name('digits').experiment_id])
    for name in ('train/loss', 'val/top1'):
        history = client.get_metric_history(run.info.run_id, name)
        assert {point.step: point.value for point in history} == recorded(tmp_path / 'run', name)
    assert run.data.params['model.mixer.type'] == 'Mixup'


def wandb_history(file):
    """Read the rows of a .wandb file: a header of 7 bytes, then records in blocks of 32 kB, as in LevelDB."""
    from wandb.proto import wandb_internal_pb2

    data, place, whole = file.read_bytes(), 7, b''
    while place + 7 <= len(data):
        left = 32768 - place % 32768
        if left < 7:
            place += left
            continue
        _, length, kind = struct.unpack('<IHB', data[place : place + 7])
        whole += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # whole, or the last part
            record = wandb_internal_pb2.Record()
            record.ParseFromString(whole)
            row = {item.key or '/'.join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
            whole = b''
            if row:
                yield {**row, 'step': record.history.step.num}


def test_wandb_has_one_id_and_steps_that_go_on(tmp_path, monkeypatch):
    offline = backend(type='WandbVisBackend', init_kwargs={'mode': 'offline', 'project': 'digits'})
    broken_run(tmp_path / 'run', monkeypatch, offline)
    files = sorted((tmp_path / 'run').rglob('run-*.wandb'), key=lambda file: file.stat().st_mtime)
    assert len(files) == 2
    assert len({file.stem for file in files}) == 1  # one id
    rows = [row for file in files for row in wandb_history(file)]
    for name in ('train/loss', 'val/top1'):
        assert {row['step']: row[name] for row in rows if name in row} == recorded(tmp_path / 'run', name)


def test_a_run_that_fails_before_it_begins_leaves_nothing_there(tmp_path):
    options = ("visualizer=dict(vis_backends=[dict(type='LocalVisBackend')])", 'optim_wrapper.optimizer.momentum=-1')
    assert train(tmp_path / 'run', *options) == 2
    assert not list(Path(tmp_path).rglob('vis_data/*'))


@pytest.mark.parametrize(
    ('option', 'said'),
    [
        ("visualizer=dict(vis_backends=[dict(type='WandbBackend')])", 'did you mean WandbVisBackend'),
        ("visualizer=dict(vis_backends=[dict(type='WandbVisBackend', init_kwarg=1)])", 'did you mean init_kwargs'),
        ('visualizer=dict(backends=[])', 'visualizer.backends is not an argument'),
    ],
)
def test_misspelt_backends_are_refused(tmp_path, capsys, option, said):
    assert train(tmp_path / 'run', option) == 2
    assert said in capsys.readouterr().err


def test_a_backend_that_fails_in_mid_run_is_left_out(tmp_path, capsys, monkeypatch):
    """A server that is gone costs its curves, not the training."""
    written = []

    def add_scalars(self, scalar_dict, step=0, file_path=None, **options):
        written.append(step)
        if step > 3:
            raise ConnectionError('the server is gone')

    monkeypatch.setattr('openmix_dm.engine.trackers.ContinuedTensorboard.add_scalars', add_scalars)
    assert train(tmp_path / 'run') == 0
    assert written == [3, 6]
    assert capsys.readouterr().err.count('ContinuedTensorboard cannot be written (the server is gone)') == 1
    assert len(RunFolder(tmp_path / 'run').records('val')) == 2


def test_a_package_that_is_not_there_is_told_before_any_work(tmp_path, capsys, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr('importlib.util.find_spec', lambda name, *rest: None if name == 'mlflow' else find(name, *rest))
    assert train(tmp_path / 'run', backend(type='MLflowVisBackend')) == 2
    assert "needs mlflow; run: pip install 'openmix_dm[track]'" in capsys.readouterr().err
    assert not (tmp_path / 'run' / 'run.json').exists()


def test_the_death_of_a_worker_is_no_fault_of_a_backend(tmp_path, monkeypatch, capfd):
    """torch raises it wherever the process is; taken for a failing backend, training would wait for the worker."""

    def interrupted(self, values, step):
        raise RuntimeError('DataLoader worker (pid 7) is killed by signal: Killed. ')

    monkeypatch.setattr(ContinuedTensorboard, 'add_scalars', interrupted)
    assert train(tmp_path / 'run') == 7
    assert 'a worker of the data loader was killed by signal: Killed' in capfd.readouterr().err
