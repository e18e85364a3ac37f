"""What was shown on a pretended GPU, tried on the machine at hand: every mixer and precision, ranks, resume, speed."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from pprint import pformat
from typing import Any

import torch

from openmix_dm.analysis.benchmarks import step as small_run
from openmix_dm.analysis.benchmarks.device_training import DeviceTraining, image_batch, pinned
from openmix_dm.analysis.benchmarks.launches import CLASSES, RESNET_MIXERS, TOKEN_MIXERS, classifier
from openmix_dm.config.fast import best_precision
from openmix_dm.errors import first_line
from openmix_dm.runs.checkpoints import load_file
from openmix_dm.runs.folder import RunFolder
from openmix_dm.utils.modules import digest
from openmix_dm.version import __version__

OK, FAILED, SKIPPED = 'ok', 'FAILED', 'skipped'
WAITING = ('PuzzleMix',)  # whose exact solver reads from the device
PRECISIONS = (None, 'bf16', 'fp16')
EPOCHS, STOP_AFTER = 3, 15  # of the run that is stopped and resumed, and the iteration from which on it is stopped
TRAIN = 'import sys; from openmix_dm.commands.train import main; sys.exit(main())'


@dataclass(frozen=True)
class Finding:
    """What came out of one thing that was tried."""

    what: str
    verdict: str
    detail: str = ''


@dataclass(frozen=True)
class Machine:
    """The device at hand, and networks that it trains in a moment."""

    device: str
    resnet: str
    transformer: str
    pixels: int
    batch: int

    @property
    def has_gpu(self) -> bool:
        """Whether there is a GPU."""
        return self.device == 'cuda'


def this_machine() -> Machine:
    """Return what there is: the paper's networks on a GPU, smaller ones without."""
    if torch.cuda.is_available():
        return Machine('cuda', 'resnet50', 'deit_small_patch16_224', 224, 32)
    return Machine('cpu', 'resnet18', 'deit_tiny_patch16_224', 64, 4)


def describe(machine: Machine) -> dict[str, Any]:
    """Return versions and devices, for the report."""
    facts: dict[str, Any] = {'openmix_dm': __version__, 'torch': torch.__version__, 'python': sys.version.split()[0]}
    if machine.has_gpu:
        nccl: Any = torch.cuda.nccl.version()  # type: ignore[no-untyped-call]
        facts |= {'cuda': torch.version.cuda, 'cudnn': torch.backends.cudnn.version(), 'nccl': '.'.join(map(str, nccl))}
        facts['gpus'] = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return facts


def check_all(machine: Machine) -> Iterator[Finding]:
    """Try everything, one after another; what fails does not stop the rest."""
    yield from check_steps(machine)
    yield check_resume(machine, deterministic=False)
    yield check_resume(machine, deterministic=True)
    yield check_ranks(machine)
    yield from check_speed(machine)


def check_steps(machine: Machine) -> Iterator[Finding]:
    """Train a few steps with every mixer in every precision; on a GPU none of them may make the host wait."""
    for precision in PRECISIONS:
        for name, settings in {**RESNET_MIXERS, **TOKEN_MIXERS}.items():
            what = f'{name}, {precision or "fp32"}'
            if precision == 'fp16' and not machine.has_gpu:
                yield Finding(what, SKIPPED, 'fp16 is for GPUs')
                continue
            yield tried(what, lambda: steps(machine, name, settings, precision))  # noqa: B023, called at once


def steps(machine: Machine, name: str, settings: dict[str, Any], precision: str | None) -> str:
    """Train four steps, the last two of them watched for waits; return the loss."""
    network = machine.transformer if name in TOKEN_MIXERS else machine.resnet
    pixels = 224 if name in TOKEN_MIXERS else machine.pixels
    if 'teacher' in settings:
        settings = {**settings, 'teacher': {'type': 'TimmBackbone', 'name': machine.resnet}}
    torch.manual_seed(0)
    wrapper = {'type': 'MixOptimWrapper', 'amp': precision, 'optimizer': {'type': 'SGD', 'lr': 0.01, 'momentum': 0.9}}
    training = DeviceTraining(classifier(network, {'type': name, **settings}), wrapper, device=machine.device)
    batch: Any = image_batch(machine.batch, pixels, CLASSES)
    batch = pinned(batch) if machine.has_gpu else batch
    for _ in range(2):
        training.step(batch)
    with no_waits(machine.has_gpu and name not in WAITING):
        for _ in range(2):
            training.step(batch)
    training.optim_wrapper.settle()
    wrong = [key for key, value in training.bare_model.state_dict().items() if not value.isfinite().all()]
    if wrong:
        raise ValueError(f'{wrong[0]} is not finite after four steps')
    return 'no waits' if machine.has_gpu and name not in WAITING else ''


@contextmanager
def no_waits(watched: bool) -> Iterator[None]:
    """Let CUDA raise where the host would wait for the device."""
    if not watched:
        yield
        return
    torch.cuda.set_sync_debug_mode('error')
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode('default')


def check_resume(machine: Machine, deterministic: bool) -> Finding:
    """Stop a run in the middle, go on with it, and compare its weights with those of an unbroken one."""
    what = f'a stopped run goes on exactly{", deterministic=True" if deterministic else ""}'

    def compare() -> str:
        with tempfile.TemporaryDirectory() as place:
            path = write_config(Path(place), deterministic)
            run(path, Path(place) / 'unbroken')
            code = stop(path, Path(place) / 'broken')
            run(path, Path(place) / 'broken', '--resume')
            weights = [load_file(Path(place) / name / f'epoch_{EPOCHS}.pth')['state_dict'] for name in NAMES]
            same = len({digest(*each.values()) for each in weights}) == 1
        if not same and (deterministic or not machine.has_gpu):
            raise ValueError(f'the weights differ (the first part left with exit code {code})')
        return (
            'bit for bit' if same else 'not bit for bit: kernels add in another order; deterministic=True is for that'
        )

    return tried(what, compare)


NAMES = ('unbroken', 'broken')


def check_ranks(machine: Machine) -> Finding:
    """Train on two GPUs."""
    what = 'two ranks'
    if not machine.has_gpu or torch.cuda.device_count() < 2:
        return Finding(what, SKIPPED, 'there are no two GPUs')

    def train() -> str:
        with tempfile.TemporaryDirectory() as place:
            path = write_config(Path(place), False)
            script = Path(place) / 'train.py'
            script.write_text(TRAIN)
            launcher = [sys.executable, '-m', 'openmix_dm.commands.dist_ranks', '2', str(script)]
            call([*launcher, str(path), '--launcher', 'pytorch', '--work-dir', str(Path(place) / 'run')])
            return f'world_size {RunFolder(Path(place) / "run").read()["world_size"]}'

    return tried(what, train)


def check_speed(machine: Machine) -> Iterator[Finding]:
    """Measure images a second with Mixup and DM(CE), plain and with what --fast switches on; images are on the host."""
    best = best_precision(on_cpu=None)
    settings = {
        'plain': (None, torch.contiguous_format),
        f'fast ({best or "fp32"}, channels_last)': (best, torch.channels_last),
    }
    for name, (precision, layout) in settings.items():
        what = f'{machine.resnet}, {machine.pixels} px, batch {machine.batch}, {name}'
        yield tried(what, lambda: f'{speed(machine, precision, layout):,.0f} images/s')  # noqa: B023, called at once


def speed(machine: Machine, precision: str | None, layout: torch.memory_format, seconds: float = 5.0) -> float:
    """Return images a second."""
    model = classifier(machine.resnet, {'type': 'Mixup', 'alpha': 0.2}).to(memory_format=layout)
    model.data_preprocessor.memory_format = layout
    wrapper = {'type': 'MixOptimWrapper', 'amp': precision, 'optimizer': {'type': 'SGD', 'lr': 0.01, 'momentum': 0.9}}
    training = DeviceTraining(model, wrapper, device=machine.device)
    batch: Any = image_batch(machine.batch, machine.pixels, CLASSES)
    batch = pinned(batch) if machine.has_gpu else batch
    for _ in range(3):
        training.step(batch)
    training.optim_wrapper.settle()
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        training.step(batch)
        done += machine.batch
    training.optim_wrapper.settle()
    return done / (time.perf_counter() - began)


def tried(what: str, trial: Callable[[], str]) -> Finding:
    """Return what came out of a trial, whatever it raises."""
    try:
        return Finding(what, OK, trial())
    except Exception as error:  # a report is what this is for
        return Finding(what, FAILED, f'{type(error).__name__}: {first_line(error)}')


def write_config(folder: Path, deterministic: bool) -> Path:
    """Write the config of a small run: ResNet-8 on the embedded digits."""
    config = small_run.config(EPOCHS)
    config['randomness']['deterministic'] = deterministic
    config['default_hooks'] = {'records': {'type': 'RecordHook', 'interval': 1}}
    path = folder / 'small.py'
    path.write_text('\n'.join(f'{key} = {pformat(value)}' for key, value in config.items()) + '\n')
    return path


def run(config: Path, folder: Path, *arguments: str) -> None:
    """Train in a process of its own."""
    call([sys.executable, '-c', TRAIN, str(config), '--work-dir', str(folder), *arguments])


def call(command: list[str]) -> None:
    """Run a command; its last words are those of the error."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise RuntimeError(f'exit code {done.returncode}: {(done.stderr.strip().splitlines() or ["no word"])[-1]}')


def stop(config: Path, folder: Path) -> int:
    """Start a training and stop it in the middle, as a scheduler does; return its exit code."""
    command = [sys.executable, '-c', TRAIN, str(config), '--work-dir', str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    records = folder / 'metrics.jsonl'
    deadline = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < deadline:
        if records.is_file() and len(records.read_text().splitlines()) > STOP_AFTER:
            process.send_signal(signal.SIGTERM)
            break
        time.sleep(0.02)
    return process.wait(timeout=300)


def summary(facts: dict[str, Any], findings: list[Finding]) -> str:
    """Return the last lines of a report."""
    counts = [f'{sum(each.verdict == verdict for each in findings)} {verdict}' for verdict in (OK, FAILED, SKIPPED)]
    return f'{", ".join(f"{name} {value}" for name, value in facts.items())}\n{", ".join(counts)}'


def as_json(facts: dict[str, Any], findings: list[Finding]) -> str:
    """Return the report for programs."""
    rows = [finding.__dict__ for finding in findings]
    return json.dumps({'machine': facts, 'cpus': os.cpu_count(), 'findings': rows}, indent=1) + '\n'
