"""What goes wrong while a training runs: numbers, images, workers, folders, clocks."""

import json
import os
import signal

import cv2
import numpy as np
import pytest
from support.fault_cases import (
    CONFIG,
    EVERY_SECOND,
    check_failed,
    check_same_run,
    children,
    command,
    final,
    finish,
    injected,
    records,
    small_disk,
    start,
    tool,
    train,
    wait_for,
)

from openmix_dm.runs.checkpoints import load_file
from openmix_dm.runs.folder import RunFolder

pytestmark = pytest.mark.faults

NAN = """
import os
try:
    from openmix_dm.losses import DecoupledCE
except ImportError:
    DecoupledCE = None
if DecoupledCE:
    per_sample, calls = DecoupledCE.per_sample, []
    def broken(self, logits, target):
        calls.extend([1] * int(not (target.lam == 1).all()))  # not in validations
        guilty = len(calls) == 10 and os.environ.get('RANK', '1') == '1'
        return per_sample(self, logits, target) * (float('nan') if guilty else 1)
    DecoupledCE.per_sample = broken
"""


@pytest.mark.parametrize('ranks', [1, 2])
def test_f7_loss_becomes_nan(ranks, tmp_path):
    """The loss of one rank is NaN: all stop before the weights are touched, exit 5; samples, lam, mixer and gradient
    norm are written; the last checkpoint is finite, and the run goes on from it."""
    assert train(tmp_path / 'whole', ranks=ranks).code == 0
    folder = tmp_path / 'run'
    outcome = train(folder, ranks=ranks, **injected(tmp_path, NAN))
    check_failed(outcome, 5, 'numeric', 'iteration 9', 'nonfinite_rank')
    for rank in range(ranks):
        assert {'samples', 'lam', 'mixer', 'gradient_norm'} <= set(
            json.loads((folder / f'nonfinite_rank{rank}.json').read_text())
        )
    assert all(value.isfinite().all() for value in load_file(folder / 'epoch_1.pth')['state_dict'].values())
    assert RunFolder(folder).read()['exit_code'] == 5
    outcome = train(folder, arguments=('--resume',), ranks=ranks)
    assert outcome.code == 0, outcome.err
    check_same_run(folder, tmp_path / 'whole')


def test_f7_a_nan_may_be_passed_over(tmp_path):
    """The same with optim_wrapper.skip_nonfinite=1: a warning, and the run ends with finite weights."""
    outcome = train(tmp_path / 'run', 'optim_wrapper.skip_nonfinite=1', **injected(tmp_path, NAN))
    assert outcome.code == 0, outcome.err
    assert 'passed over (1 of 1)' in outcome.said
    assert all(value.isfinite().all() for value in final(tmp_path / 'run')['state_dict'].values())


INFINITE = """
try:
    from openmix_dm.engine.optim import wrapper as optimizers
except ImportError:
    optimizers = None
if optimizers:
    optimizers.SkippedSteps.__init__.__defaults__ = (10, 0.01)
    step, calls = optimizers.MixOptimWrapper.step, []
    def infinite(self, **options):
        calls.append(1)
        if len(calls) == 5:
            self.optimizer.param_groups[0]['params'][0].grad.fill_(float('inf'))
        step(self, **options)
    optimizers.MixOptimWrapper.step = infinite
"""


def test_f8_infinite_gradient_in_fp16(tmp_path):
    """An infinite gradient under the loss scale of fp16: the step is left out and counted; many are a warning."""
    outcome = train(tmp_path / 'run', 'optim_wrapper.amp=fp16', **injected(tmp_path, INFINITE))
    assert outcome.code == 0, outcome.err
    assert '1 of the last 10 steps were left out' in outcome.said
    assert all(value.isfinite().all() for value in final(tmp_path / 'run')['state_dict'].values())


@pytest.fixture
def images(tmp_path):
    """Ten classes of four JPEGs, for training and validation, and the options that train on them."""
    pixels = np.random.default_rng(0)
    for split in ('train', 'val'):
        for label in range(10):
            folder = tmp_path / 'data' / 'tiny' / split / f'class{label}'
            folder.mkdir(parents=True)
            for number in range(4):
                small = pixels.integers(0, 255, (8, 8, 3), dtype=np.uint8)
                cv2.imwrite(str(folder / f'{number}.jpg'), cv2.resize(small, (64, 64)))
    return tmp_path / 'data' / 'tiny'


def folder_options(images, **more):
    crop = {'train': "dict(type='RandomResizedCrop',size=16)", 'val': "dict(type='CenterCrop',size=16)"}
    options = []
    for split in ('train', 'val'):
        extra = ''.join(f',{key}={value!r}' for key, value in more.items()) if split == 'train' else ''
        options.append(
            f"{split}_dataloader.dataset=dict(_delete_=True,type='ImageFolder',root={str(images)!r},split={split!r},"
            f'transforms=[{crop[split]}]{extra})'
        )
    return ('global_batch_size=10', 'train_cfg.max_epochs=2', 'train_dataloader.num_workers=1', *options)


def train_images(folder, images, *arguments, **more):
    return tool('train', CONFIG, '--work-dir', folder, *arguments, '--cfg-options', *folder_options(images, **more))


DAMAGES = {
    'truncated': lambda path: path.write_bytes(path.read_bytes()[:200]),
    'empty': lambda path: path.write_bytes(b''),
    'a web page': lambda path: path.write_text('<html>404</html>'),
}


@pytest.mark.parametrize('name', DAMAGES)
def test_f9_damaged_image(name, images, tmp_path):
    """A training image is truncated, empty or a web page: exit 3 with its path; with on_error='skip' the run ends, the
    image is counted, and the same one stands in for it in each run."""
    bad = images / 'train' / 'class3' / '1.jpg'
    DAMAGES[name](bad)
    check_failed(train_images(tmp_path / 'run', images, imdecode_backend='simplejpeg'), 3, 'data', str(bad))
    for run in ('a', 'b'):
        outcome = train_images(tmp_path / run, images, imdecode_backend='simplejpeg', on_error='skip')
        assert outcome.code == 0, outcome.err
        assert f'skipped (1 of at most 100): {bad}' in outcome.err
    check_same_run(tmp_path / 'a', tmp_path / 'b')


def test_f10_zeroed_bytes_inside_an_image(images, tmp_path):
    """400 bytes inside a JPEG are zero, which cv2 shows as a picture: the strict decoder refuses it, exit 3."""
    bad = images / 'train' / 'class3' / '1.jpg'
    content = bytearray(bad.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 400] = bytes(400)
    bad.write_bytes(content[: bad.stat().st_size])
    check_failed(train_images(tmp_path / 'run', images, imdecode_backend='simplejpeg'), 3, 'data', str(bad))


LONG = ('train_cfg.max_epochs=2000', 'train_dataloader.num_workers=1', 'default_hooks.records.interval=1', EVERY_SECOND)


def test_f11_worker_killed(tmp_path):
    """A worker is killed, as by the kernel when memory runs out: exit 7, what to lower, a checkpoint to go on from."""
    folder = tmp_path / 'run'
    process = start(*command(folder, *LONG))
    wait_for(lambda: records(folder) > 5, process)
    worker = children(process.pid)[-1]
    os.kill(worker, signal.SIGKILL)
    check_failed(finish(process), 7, 'resources', 'killed', 'num_workers', 'MB')
    assert RunFolder(folder).read()['exit_code'] == 7
    assert load_file(max(folder.glob('iter_*.pth'), key=lambda path: path.stat().st_mtime))


HANG = """
try:
    from openmix_dm.datasets.tensor_images import TensorImages
except ImportError:
    TensorImages = None
if TensorImages:
    import time
    from torch.utils.data import get_worker_info
    get, calls = TensorImages.__getitems__, []
    def hang_here(self, picks):
        calls.append(1)
        if len(calls) > 9 and get_worker_info():
            time.sleep(1000)
        return get(self, picks)
    TensorImages.__getitems__ = hang_here
"""


def test_f12_worker_hangs(tmp_path):
    """A worker hangs: after the time-out (3 s here, 300 by default) its stack is shown, exit 3, no process stays."""
    options = ('train_dataloader.num_workers=1', 'train_dataloader.timeout=3')
    process = start(*command(tmp_path / 'run', *options), **injected(tmp_path, HANG))
    wait_for(lambda: records(tmp_path / 'run') > 0, process)
    below = children(process.pid)
    outcome = finish(process, timeout=60)
    check_failed(outcome, 3, 'data', 'silent for 3 s')
    assert 'hang_here' in outcome.err
    assert not [pid for pid in below if os.path.exists(f'/proc/{pid}')]  # noqa: PTH110


def test_f25_two_jobs_in_one_folder(tmp_path):
    """A second job in the folder of a running one: exit 2, who holds it since when; the first is not disturbed."""
    process = start(*command(tmp_path / 'run', *LONG))
    wait_for(lambda: records(tmp_path / 'run') > 2, process)
    outcome = train(tmp_path / 'run', *LONG, arguments=('--resume',))
    check_failed(outcome, 2, 'config', f'held by process {process.pid}', 'since')
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert finish(process).code == 75
    assert not (tmp_path / 'run' / 'lock.json').exists()


def test_f26_read_only_folder(tmp_path):
    """The run folder cannot be written: exit 7 before any work."""
    with small_disk(tmp_path / 'disk', '1m', ',ro') as disk:
        check_failed(train(disk / 'run'), 7, 'resources', 'cannot be written', str(disk))


def test_f27_exception_in_validation_with_averaged_weights(images, tmp_path):
    """A damaged validation image while an average of the weights is evaluated: exit 3 with its path; once it is mended
    the run goes on to the weights of an unbroken one, since nothing is ever swapped in."""
    ema = ('default_hooks.ema.type=EmaHook', 'default_hooks.ema.decay=0.9', EVERY_SECOND)
    bad = images / 'val' / 'class3' / '1.jpg'
    good = bad.read_bytes()
    options = ('--cfg-options', *folder_options(images), *ema)
    assert tool('train', CONFIG, '--work-dir', tmp_path / 'whole', *options).code == 0
    bad.write_bytes(b'')
    outcome = tool('train', CONFIG, '--work-dir', tmp_path / 'run', *options)
    check_failed(outcome, 3, 'data', str(bad))
    bad.write_bytes(good)
    assert tool('train', CONFIG, '--work-dir', tmp_path / 'run', '--resume', *options).code == 0
    check_same_run(tmp_path / 'run', tmp_path / 'whole')


CLOCK = """
import time
real, calls = time.time, []
def jumping():
    calls.append(1)
    return real() - 3600 * len(calls)
time.time = jumping
"""


def test_f29_clock_jumps_and_two_starts_at_once(tmp_path):
    """The clock jumps back again and again, and two runs start at the same moment: two ids, hours that are not
    negative, and a run that goes on."""
    environment = injected(tmp_path, CLOCK)
    both = [start(*command(tmp_path / name), **environment) for name in ('a', 'b')]
    for process in both:
        outcome = finish(process)
        assert outcome.code == 0, outcome.err
    runs = [RunFolder(tmp_path / name).read() for name in ('a', 'b')]
    assert runs[0]['id'] != runs[1]['id']
    assert all(0 < run['hours'] < 1 for run in runs)
    check_same_run(tmp_path / 'a', tmp_path / 'b')
