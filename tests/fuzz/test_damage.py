"""Flip bits in, cut and overwrite every file that is read from a folder: never a wrong result without a word.

Each look at a folder gives what it gave before the damage, says something, or fails by one of our failures; it never
raises anything else, and never runs anything. A list that people write carries no sums: what is read is what it says
now, as a parser of its own in this file reads it. Single images carry none either.
"""

import contextlib
import io
import json
import os
import random
import shutil
import sys

import cv2
import numpy as np
import pytest
from support.trained_runs import digits_run

import openmix_dm
from openmix_dm.commands.export import main as export
from openmix_dm.commands.prepare_data import main as prepare_data
from openmix_dm.config.load import load_run_config
from openmix_dm.datasets import CIFAR10, HuggingFaceImages, ImageFolder, ImageList
from openmix_dm.datasets.prepare.archives import write_file
from openmix_dm.datasets.prepare.pack_check import check_packed
from openmix_dm.datasets.reading import index_cache
from openmix_dm.datasets.splits import labelled_indices
from openmix_dm.datasets.splits.split_files import SplitName, encode
from openmix_dm.datasets.stored_images import INDEX
from openmix_dm.errors import CheckpointError, ConfigError, DataError
from openmix_dm.evaluation.predictions import SavedPredictions, read_predictions
from openmix_dm.runs.checkpoints import CheckpointStore, load_file
from openmix_dm.runs.doctor import examine
from openmix_dm.runs.folder import RunFolder
from openmix_dm.runs.lock import held
from openmix_dm.tables.cells import Cell
from openmix_dm.tables.plan import Run, decide
from openmix_dm.tables.results import read_trial
from openmix_dm.utils.files import sha256_of
from openmix_dm.utils.sealed import seal
from openmix_dm.utils.tensor_files import content_hash

pytestmark = pytest.mark.fuzz
SEED, ROUNDS = 20260, 3000
RAN: list[str] = []
CODE = ('os.system', 'subprocess.Popen', 'os.exec', 'os.posix_spawn', 'os.fork', 'pty.spawn', 'socket.connect')
sys.addaudithook(lambda event, args: RAN.append(event) if event in CODE else None)


def damage(content: bytes, dice: random.Random, cut: bool = True) -> bytes:
    """Flip a bit, cut the end off, or write something else over a part."""
    changed, place = bytearray(content), dice.randrange(max(len(content), 1))
    kind = dice.random() * (1.0 if cut else 0.7)
    if kind < 0.7 and content:
        changed[place] ^= 1 << dice.randrange(8)
    elif kind < 0.9:
        del changed[place:]
    else:
        part = dice.choice((b'\0' * 16, b'\xff' * 16, dice.randbytes(16), b'[' * 2000, b'1e999', b'../../x'))
        changed[place : place + len(part)] = part
    return bytes(changed)


def look(at, folder):
    """Return what a look gives, and all that it said; a failure of ours is said."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            value, words = at(folder)
        except (ConfigError, DataError, CheckpointError) as failure:
            return None, str(failure)
    return value, said.getvalue() + words


# ---- what is looked at: each returns a value to compare, and words ----


def status_and_collect(folder):
    cell = Cell('a', 'a', 'b', 'digits/r8_mixup.py')
    trial = read_trial(cell, 0, folder.parents[2])
    keys = trial.changes.keys() - CHANGED
    return (trial.value, trial.state.kind, trial.state.epoch, keys), trial.problem + trial.state.cause


CHANGED = {'global_batch_size', 'val_dataloader.batch_size', 'default_hooks.records.interval', 'train_cfg.max_epochs'}


def plan(folder):
    config = load_run_config('configs/digits/r8_mixup.py', (), 0)
    step = decide(Run('configs/digits/r8_mixup.py', 0, folder), config)
    return step.action, step.reason if step.action != 'refuse' or 'digits' not in step.reason else ''


def loaded(folder):
    model, _, classes = openmix_dm.load(folder, device='cpu')
    return (content_hash(dict(model.state_dict())), classes), ''


def newest(folder):
    words = []
    path, state = CheckpointStore(folder).newest(words.append)
    return (path.name, content_hash(state)), ' '.join(words)


def one_file(folder):
    return content_hash(load_file(folder / 'epoch_3.pth')), ''


def curves(folder):
    run = RunFolder(folder)
    return [run.records('val'), run.final()], run.metrics_problem() + run.open()[1]


def doctor(folder):
    return len(examine(folder)), ' '.join(finding.problem for finding in examine(folder))


def measured(folder):
    trial = read_trial(Cell('a', 'a', 'b', 'digits/r8_mixup.py', metric='fgsm'), 0, folder.parents[2])
    return trial.value, trial.problem


def lock_is_held(folder):
    held(folder)
    return None, ''


def arrays(folder):
    data = CIFAR10(str(folder), 'train')
    return (data.images.sum().item(), data.labels.tolist(), data.classes), ''


def split(folder):
    labels = np.load(folder / 'truth.npy')
    return labelled_indices('mine', labels, count=40, folder=folder).tolist(), ''


def listed(folder):
    data = ImageFolder(str(folder), 'train')
    return (list(data.paths), list(data.labels)), ''


def user_list(folder):
    """Say nothing of a list that is other than it was, but read what it says now, from a cache or not."""
    data = ImageList(str(folder), 'list.txt')
    found = list(zip(map(os.fsdecode, data.paths), data.labels.tolist(), strict=True))
    wanted = [parse_line(line) for line in (folder / 'list.txt').read_bytes().decode().rstrip().splitlines()]
    return None, '' if found == wanted else pytest.fail(f'{found} is not {wanted}')


def parse_line(line):
    """Read a line from its end: blanks, digits, and blanks or commas between them and the path."""
    line = line.rstrip()
    path = line.rstrip('0123456789')
    label = line[len(path) :]
    while path[-1] == ',' or path[-1].isspace():
        path = path[:-1]
    return path, int(label)


def unchanged_list(folder):
    data = ImageList(str(folder), 'list.txt')
    return (list(data.paths), list(data.labels)), ''


def packed(folder):
    """What differs is refused when the folder is opened, or found by `prepare_data.py check packed`."""
    problems = check_packed(folder, quick=True)
    data = HuggingFaceImages(str(folder), 'train')
    rows = [data.read_bytes(row)[0] for row in range(len(data))]
    shapes = [data.decode(row).shape for row in range(len(data))]
    return (data.labels.tolist(), data.classes, data.name, rows, shapes), ' '.join(problems)


def hits(folder):
    found = read_predictions(folder / 'hits.npz')
    return (found.predictions.tolist(), found.labels.tolist()), ''


# ---- the folders ----


@pytest.fixture(scope='module')
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp('work') / 'digits' / 'r8_mixup' / 'seed0'
    shutil.copytree(digits_run(), folder, ignore=shutil.ignore_patterns('tensorboard'))
    (folder / 'fgsm.json').write_text(json.dumps(seal({'eps_255': [8.0], 'runs': [{'fgsm': [0.5]}]})))
    (folder / 'lock.json').write_text('{"pid": 1, "host": "elsewhere", "job": null, "since": "noon"}')
    os.utime(folder / 'lock.json', (0, 0))
    for path in (folder, *folder.parents[:3]):
        path.chmod(0o755)
    return folder


@pytest.fixture(scope='module')
def broken_off(run, tmp_path_factory):
    """A run that was killed: run.json knows nothing of its numbers yet."""
    folder = tmp_path_factory.mktemp('killed') / 'digits' / 'r8_mixup' / 'seed0'
    shutil.copytree(run, folder)
    RunFolder(folder).update(state='running', sums={}, final={}, values={}, epoch=None)
    return folder


@pytest.fixture(scope='module')
def published(tmp_path_factory):
    out = tmp_path_factory.mktemp('published') / 'model'
    assert export(['publish', str(digits_run()), '--out', str(out)]) == 0
    return out


@pytest.fixture(scope='module')
def data(tmp_path_factory):
    folder, dice = tmp_path_factory.mktemp('data'), np.random.default_rng(0)
    labels = np.repeat(np.arange(10), 10)
    np.save(folder / 'train_images.npy', dice.integers(0, 256, (100, 3, 32, 32), dtype=np.uint8))
    np.save(folder / 'train_labels.npy', labels)
    np.save(folder / 'truth.npy', labels)
    sums = {name: sha256_of(folder / name) for name in ('train_images.npy', 'train_labels.npy')}
    index = {'name': 'cifar10', 'source': 'x', 'classes': [f'class {i}' for i in range(10)]}
    index['splits'] = {'train': {'shape': [100, 3, 32, 32], 'sha256': sums}}
    (folder / INDEX).write_text(json.dumps(seal(index), indent=1))
    name = SplitName('mine', 40, None, 0, balanced=True)
    chosen = np.sort(np.concatenate([np.arange(4) + 10 * label for label in range(10)]))
    write_file(folder / 'splits' / name.file, encode(name, labels, chosen, 'drawn'))
    for label in 'abc':
        (folder / 'train' / label).mkdir(parents=True)
        for place in range(5):
            (folder / 'train' / label / f'{place}.jpg').touch()
    SavedPredictions(labels, labels[::-1].copy()).save(folder / 'hits.npz')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_cache, 'WORTH', 1)
        patch.setattr(index_cache, 'SETTLED', -(10**10))
        listed(folder)
        arrays(folder)
        yield folder


@pytest.fixture(scope='module')
def lists(tmp_path_factory):
    """A list, with the index that is kept beside a long one."""
    folder = tmp_path_factory.mktemp('lists')
    (folder / 'list.txt').write_text(''.join(f'class {label}/image, {label}.jpg {label}\n' for label in range(20)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_cache, 'WORTH', 1)
        user_list(folder)
        yield folder


@pytest.fixture(scope='module')
def pack(tmp_path_factory):
    folder = tmp_path_factory.mktemp('packed')
    for label in 'abc':
        (folder / 'images' / 'train' / label).mkdir(parents=True)
        for place in range(4):
            image = np.random.default_rng(place).integers(0, 256, (8, 8, 3), dtype=np.uint8)
            cv2.imwrite(str(folder / 'images' / 'train' / label / f'{place}.png'), image)
    words = ['pack', 'folder', '--root', str(folder / 'images'), '--out', str(folder / 'out'), '--shard-images', '6']
    assert prepare_data(words) == 0
    return folder / 'out'


LOOKS = {
    'run': {
        'run.json': (status_and_collect, curves, doctor, loaded, plan),
        'metrics.jsonl': (status_and_collect, curves, doctor),
        'config.py': (status_and_collect, plan, loaded, doctor),
        'checkpoints.json': (newest, doctor),
        'epoch_3.pth': (one_file, newest, doctor),
        'lock.json': (lock_is_held, status_and_collect),
        'fgsm.json': (measured,),
    },
    'broken_off': {'metrics.jsonl': (status_and_collect, curves, doctor)},
    'published': dict.fromkeys(('model.safetensors', 'config.py', 'model.json', 'SHA256SUMS'), (loaded,)),
    'data': {
        'index.json': (arrays,),
        'train_images.npy': (arrays,),
        'train_labels.npy': (arrays,),
        'splits/mine_40_s0.json': (split,),
        '.openmix_dm/train.index': (listed,),
        '.openmix_dm/train_images.npy.verified': (arrays,),
        'hits.npz': (hits,),
    },
    'lists': {'list.txt': (user_list,), '.openmix_dm/list.txt.index': (unchanged_list, user_list)},
    'pack': dict.fromkeys(
        (
            'dataset_dict.json', 'train/pack.json', 'train/state.json', 'train/dataset_info.json',
            'train/data-00000-of-00002.arrow',
        ),
        (packed,),
    ),
}  # fmt: skip
CASES = [(place, file) for place, files in LOOKS.items() for file in files]


@pytest.mark.parametrize(('place', 'file'), CASES, ids=[f'{place}: {file}' for place, file in CASES])
def test_never_wrong_without_a_word(place, file, request):
    folder = request.getfixturevalue(place)
    path, looks = folder / file, LOOKS[place][file]
    whole, dice = path.read_bytes(), random.Random(f'{SEED} {place} {file}')
    right = {at: look(at, folder) for at in looks}
    RAN.clear()
    noticed = 0
    try:
        for _ in range(ROUNDS // len(CASES) + 1):
            spoilt = damage(whole, dice, cut=place != 'broken_off')  # what a kill leaves is no damage
            path.write_bytes(spoilt)
            for at in looks:
                value, said = look(at, folder)
                words = said != right[at][1]
                noticed += words
                assert value == right[at][0] or words, (at.__name__, spoilt if len(spoilt) < 5000 else len(spoilt))
    finally:
        path.write_bytes(whole)
    assert not RAN
    assert {at: look(at, folder)[0] for at in looks} == {at: value for at, (value, _) in right.items()}
    print(f'{place}: {file}: {ROUNDS // len(CASES) + 1} rounds, {noticed} words')
