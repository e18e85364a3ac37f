"""The first words of a training or of a test: on what, with what, how long and where, in a few aligned lines."""

import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from mmengine.config import Config
from mmengine.hooks import Hook
from torch import nn

from openmix_dm.engine.loader import ForeignImages
from openmix_dm.errors import printable
from openmix_dm.invocation import shown

Words = Mapping[str, str]  # what a line is about -> what it says
LABEL = 10  # columns of what a line is about


class FirstWords(Hook):
    """Say them once the weights are loaded, before anything is trained; rank 0 says them, and the log keeps them.

    Args:
        more: lines that only the caller knows: the paper's number, what to type to go on.
    """

    def __init__(self, more: Words) -> None:
        self.more = more

    def after_load(self, runner: Any) -> None:
        """Print and log them."""
        if runner.rank == 0:
            runner.logger.info('first words:\n' + say({**training_words(runner), **self.more}))


def say(words: Words) -> str:
    """Print lines beside the progress, where they are no part of the results, and return them."""
    text = '\n'.join(f'{label:{LABEL}}{printable(words[label])}' for label in words)
    print(text, file=sys.stderr, flush=True)
    return text


def training_words(runner: Any) -> dict[str, str]:
    """Say what is about to be trained."""
    config, loader = runner.cfg, runner.loaders['train']
    return {
        'device': device_words(runner.bare_model, config, runner.world_size),
        'data': data_words(runner.loaders, runner.bare_model),
        **model_words(runner.bare_model, config),
        'batch': batch_words(config, loader.dataset, runner.world_size),
        'length': length_words(runner),
        'folder': shown(Path(runner.work_dir)),
        **origin_words(runner),
    }


def evaluation_words(runner: Any, checkpoint: Path, ema: bool) -> dict[str, str]:
    """Say what is about to be tested."""
    averaged = ' (averaged weights)' if ema else ''
    return {
        'device': device_words(runner.bare_model, runner.cfg, runner.world_size),
        'data': data_words({'test': runner._test_dataloader}, runner.bare_model),
        **model_words(runner.bare_model, runner.cfg, trains=False),
        'weights': f'{checkpoint}{averaged}',
    }


def device_words(model: nn.Module, config: Config, ranks: int) -> str:
    """Say on what it computes, and how precisely."""
    device = next(model.parameters()).device
    if device.type == 'cuda':
        name = f'{ranks} x {torch.cuda.get_device_name(device)}'
    else:
        threads = torch.get_num_threads()
        name = f'{device.type.upper()} ({platform.machine()}, {_count(threads, "thread")}{" a rank" * (ranks > 1)})'
    amp = (config.get('optim_wrapper') or {}).get('amp')
    return f'{name}, {f"mixed precision ({amp})" if amp else "float32"}'


def data_words(loaders: Mapping[str, Any], model: nn.Module) -> str:
    """Say how many images of how many classes there are for what."""
    datasets = {phase: loader.dataset for phase, loader in loaders.items() if loader is not None}
    counts = [f'{image_words(dataset)} {PURPOSES[phase]}' for phase, dataset in datasets.items()]
    first = next(iter(datasets.values()))
    classes = getattr(first, 'num_classes', None) or getattr(getattr(model, 'head', None), 'num_classes', None)
    known = [*counts, f'{classes:,} classes'] if classes else counts
    return f'{_name_of(first)}: {", ".join(known)}'


PURPOSES = {'train': 'for training', 'val': 'for validation', 'test': 'for the test'}


def image_words(dataset: Any) -> str:
    """Say how many images a data set has; of two streams, how many of each."""
    if hasattr(dataset, 'sizes'):
        return '{:,} labelled and {:,} unlabelled images'.format(*dataset.sizes)
    return _count(len(dataset), 'image')


def _name_of(dataset: Any) -> str:
    """Return the class of a data set, of what is inside of streams and of what another package has made."""
    dataset = dataset.source if hasattr(dataset, 'sizes') else dataset
    dataset = dataset.dataset if isinstance(dataset, ForeignImages) else dataset
    folder = getattr(dataset, 'folder', None)
    return f'{type(dataset).__name__} ({folder})' if folder else type(dataset).__name__


def model_words(model: Any, config: Config, trains: bool = True) -> dict[str, str]:
    """Say which network it is, and of a training also what mixes the images and what they cost."""
    given = config.model.get('backbone') or {'type': type(model).__name__}
    numbers = sum(each.numel() for each in model.parameters())
    words = {'model': f'{settings_of(given)}: {_count(numbers, "parameter")}'}
    parts = {'mixer': getattr(model, 'mixer', None), 'loss': getattr(getattr(model, 'head', None), 'loss_fn', None)}
    if hasattr(model, 'terms'):  # of a semi-supervised method; the loss of its head is one of them, or none
        parts = {'mixer': None, 'loss': None}
        words['loss'] = ', '.join(f'{name}: {type(term).__name__}' for name, term in model.terms.items())
    words |= {name: f'{type(part).__name__}({part.extra_repr()})' for name, part in parts.items() if part is not None}
    return words if trains else {'model': words['model']}


def settings_of(given: Mapping[str, Any]) -> str:
    """Return a part of a config as one would call it, without what is built inside of it."""
    kind = given.get('type')
    plain = [f'{key}={value!r}' for key, value in given.items() if key != 'type' and isinstance(value, str | int)]
    return f'{kind if isinstance(kind, str) else getattr(kind, "__name__", kind)}({", ".join(plain)})'


def batch_words(config: Config, dataset: Any, ranks: int) -> str:
    """Say how a global batch comes about."""
    total, own = config.global_batch_size, config.train_dataloader.batch_size
    accumulated = (config.optim_wrapper or {}).get('accumulative_counts', 1)
    factors = [f'{own:,} on each of {ranks} ranks'] if ranks > 1 else []
    factors += (
        [f'{"" if factors else f"{own:,} "}in each of {accumulated} accumulated steps'] if accumulated > 1 else []
    )
    streams = f' with a label, and {dataset.ratio:g} without for each' if hasattr(dataset, 'ratio') else ''
    return _count(total, 'image') + streams + (f': {", ".join(factors)}' if factors else ', on one rank')


def length_words(runner: Any) -> str:
    """Say how long the whole training is."""
    train = runner.cfg.get('train_cfg') or {}
    if 'max_iters' in train:
        return f'{runner.max_iters:,} iterations, a validation after every {len(runner.train_dataloader):,}'
    return f'{_count(runner.max_epochs, "epoch")} of {_count(len(runner.train_dataloader), "iteration")}'


def origin_words(runner: Any) -> dict[str, str]:
    """Say what the weights are from, where they are not drawn: the run goes on, or starts from others' weights."""
    if runner.resumed_from is not None:
        done, whole = runner.iter, runner.max_iters
        where = f'{done:,} of {_count(whole, "iteration")} are done, it goes on in epoch {runner.epoch + 1}'
        return {'resumed': f'from {runner.resumed_from.name}: {where if done < whole else "all of it is done"}'}
    if runner._resume:
        return {'resumed': 'from nothing: the folder has no checkpoint, so it starts from the beginning'}
    return {'weights': f'those of {runner._load_from}'} if runner._load_from else {}


def _count(number: int, noun: str) -> str:
    return f'{number:,} {noun}{"" if number == 1 else "s"}'
